// TileUnitsTest.cpp - tile kernels whose units share a block
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"
#include "contracts/reference/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

struct Parts {
  std::string partition, merges, in;
};

/// Trees of which each unit has one, and such as leave every unit single chains;
/// a last part that is short; several digits; what rounds.
const Parts kParts[] = {
    {"rank:8@64 step:* k:16", R"("rank pairwise")", "512"},
    {"rank:8@64 step:* k:16", R"("rank fold")", "500"},
    {"rank:8@64 step:* k:16", R"("rank pairwise from bf16 in bf16")", "512"},
    {"rank:8@64 step:* k:16", R"("rank halving from f16")", "512"},
    {"rank:8@64 step:* k:16", R"("rank fold from bf16 in bf16")", "500"},
    {"node:2@256 rank:4@64 step:* k:16",
     R"("rank fold in f16", "node pairwise from bf16")", "500"}};

Case caseOf(const Parts &parts) {
  return readText(matmulContract(
      "bf16", "dot.nv(16,25)", parts.partition,
      R"m("k fused(dot.nv(16,25))", "step chain", )m" + parts.merges, "bf16",
      parts.in));
}

tile::ScheduleAttr split(int64_t units, int64_t consumers = 1, int64_t m = 8,
                         int64_t k = 32) {
  return tile::ScheduleAttr::get(&context(), m, 16, k, 3, consumers, 2, "bulk",
                                 0, 0, /*cluster=*/1, /*held=*/0, units);
}

std::string proved(const Case &of, tile::FuncOp func) {
  Said said;
  bool holds =
      succeeded(interpreter::proveSchedule(of.contract(), of.op(), func));
  return holds ? "holds" : said.text;
}

std::string planted(const Case &of, int64_t units,
                    llvm::function_ref<void(tile::FuncOp)> plant) {
  TileKernel kernel = lower(of, split(units));
  REQUIRE(proved(of, kernel.func) == "holds");
  plant(kernel.func);
  return proved(of, kernel.func);
}

tile::MeetOp meetingOf(tile::FuncOp func) {
  tile::MeetOp found;
  func.walk([&](tile::MeetOp op) { found = op; });
  REQUIRE(found);
  return found;
}

} // namespace

TEST_CASE("units that share a block have the oracle's bytes") {
  std::mt19937 random(22);
  for (const Parts &parts : kParts) {
    Case of = caseOf(parts);
    reference::Evaluator oracle(of.read.canonical);
    for (int64_t units : {2, 4, 8})
      for (int64_t consumers : {1, 2}) {
        tile::ScheduleAttr schedule = split(units, consumers);
        INFO(parts.partition << ", " << parts.merges << ": "
                             << schedule.text());
        TileKernel kernel = lower(of, schedule);
        CHECK(proved(of, kernel.func) == "holds");
        for (auto [tokens, out] : {std::pair(1, 1), {7, 17}, {21, 35}}) {
          interpreter::Dims dims =
              productDims(tokens, out, std::stol(parts.in));
          interpreter::Tensors all = tensorsOf(of, dims, random), given = all;
          given.erase("y");
          Said said;
          auto got = interpreter::interpretNumbers(kernel.func, all, dims,
                                                   /*programs=*/2);
          INFO(said.text);
          REQUIRE(succeeded(got));
          CHECK(oracle.run(given, 1).at("y").bytes == got->at("y").bytes);
        }
      }
  }
}

TEST_CASE("units and parts that nobody chose") {
  std::mt19937 random(23);
  auto pick = [&](int64_t from, int64_t to) {
    return from + int64_t(random() % uint64_t(to - from + 1));
  };
  const char *const forms[] = {"pairwise", "fold", "pairwise from bf16 in bf16",
                               "fold in f16", "halving from bf16"};
  int64_t refused = 0, ran = 0;
  while (ran < 40) {
    std::string form = forms[pick(0, 4)];
    int64_t units = pick(2, 5), parts = units * pick(1, 3);
    if (form.starts_with("halving")) // of powers of two
      units = int64_t(1) << pick(1, 2), parts = units * pick(1, 2);
    int64_t length = 16 * pick(1, 4), stage = length / pick(1, 2) / 16 * 16;
    if (!stage || length % stage)
      continue;
    int64_t in = parts * length - pick(0, 1) * pick(0, length - 1);
    Case of = caseOf({"rank:" + std::to_string(parts) + "@" +
                          std::to_string(length) + " step:* k:16",
                      "\"rank " + form + "\"", std::to_string(in)});
    int64_t consumers = pick(1, 3), m = consumers * pick(1, 5);
    auto schedule = tile::ScheduleAttr::get(
        &context(), m, units * pick(1, 4), stage, pick(2, 4), consumers,
        pick(1, 3), "bulk", 0, 0, /*cluster=*/1, /*held=*/0, units);
    INFO(form << ", " << parts << " parts of " << length << " of " << in << ": "
              << schedule.text());
    if (auto why = lowering::whyNot(of.contract(), of.op(), schedule)) {
      // A last part of fewer stages.
      CHECK_THAT(*why, Catch::Contains("are not those of unit 0"));
      ++refused;
      continue;
    }
    TileKernel kernel = lower(of, schedule);
    CHECK(proved(of, kernel.func) == "holds");
    interpreter::Dims dims = productDims(pick(1, 20), pick(1, 30), in);
    interpreter::Tensors all = tensorsOf(of, dims, random), given = all;
    given.erase("y");
    auto got = interpreter::interpretNumbers(kernel.func, all, dims, pick(1, 4));
    REQUIRE(succeeded(got));
    CHECK(reference::Evaluator(of.read.canonical).run(given, 1).at("y").bytes ==
          got->at("y").bytes);
    ++ran;
  }
  CHECK(refused > 0);
}

TEST_CASE("what a unit brings is a tree, or its chains where there is none") {
  auto brought = [](const std::string &merge, int64_t units) {
    Case of = caseOf({"rank:8@64 step:* k:16", merge, "512"});
    TileKernel kernel = lower(of, split(units));
    return meetingOf(kernel.func).getValues().size();
  };
  CHECK(brought(R"("rank pairwise")", 2) == 1);
  CHECK(brought(R"("rank halving")", 4) == 1);
  CHECK(brought(R"("rank fold")", 8) == 1);
  // Sums of two neighbours are in no fold but for the first two.
  CHECK(brought(R"("rank fold")", 4) == 2);
  CHECK(brought(R"("rank fold")", 2) == 4);
}

TEST_CASE("units that share a block otherwise are found") {
  Case of = caseOf({"rank:4@64 step:* k:16", R"("rank pairwise")", "256"});
  Case fold = caseOf({"rank:4@64 step:* k:16", R"("rank fold")", "256"});
  const char *const broken = "does not keep its contract";
  // All units with the parts of the first.
  CHECK_THAT(planted(of, 2,
                     [](tile::FuncOp func) {
                       func.walk([](tile::AcquireOp op) {
                         auto loop = op->getParentOfType<mlir::scf::ForOp>();
                         auto first =
                             loop.getLowerBound()
                                 .getDefiningOp<mlir::arith::AddIOp>();
                         auto last =
                             loop.getUpperBound()
                                 .getDefiningOp<mlir::arith::AddIOp>();
                         loop.setLowerBound(first.getLhs());
                         loop.setUpperBound(last.getLhs());
                       });
                     }),
             Catch::Contains(broken) || Catch::Contains("fetched early"));
  // The second unit's before the first's; addition of two would not tell.
  CHECK_THAT(planted(fold, 4,
                     [](tile::FuncOp func) {
                       tile::MeetOp meet = meetingOf(func);
                       mlir::Value first = meet.getParts()[0],
                                   last = meet.getParts()[3];
                       first.replaceAllUsesWith(last);
                     }),
             Catch::Contains(broken));
  CHECK_THAT(planted(fold, 4,
                     [](tile::FuncOp func) {
                       tile::MeetOp meet = meetingOf(func);
                       mlir::OpOperand &second = *meet.getParts()[1].use_begin(),
                                       &third = *meet.getParts()[2].use_begin();
                       mlir::Value was = second.get();
                       second.set(third.get());
                       third.set(was);
                     }),
             Catch::Contains(broken));
  // In the order of another tree.
  CHECK_THAT(planted(fold, 2,
                     [](tile::FuncOp func) {
                       tile::MeetOp meet = meetingOf(func);
                       mlir::Value first = meet->getOperand(0);
                       meet->setOperand(0, meet->getOperand(1));
                       meet->setOperand(1, first);
                     }),
             Catch::Contains(broken));
  // The columns of another unit.
  CHECK_THAT(planted(of, 2,
                     [](tile::FuncOp func) {
                       func.walk([](tile::PutOp op) {
                         op.getColMutable().set(
                             op.getCol()
                                 .getDefiningOp<mlir::arith::AddIOp>()
                                 .getLhs());
                       });
                     }),
             Catch::Contains("a second time"));
  // Fewer rows than exist, and others than another unit brings.
  auto rows = [](llvm::function_ref<mlir::Value(mlir::OpBuilder &, tile::MeetOp)>
                     rowsOf) {
    return [rowsOf](tile::FuncOp func) {
      tile::MeetOp meet = meetingOf(func);
      mlir::OpBuilder builder(meet);
      meet.getRowsMutable().set(rowsOf(builder, meet));
    };
  };
  CHECK_THAT(planted(of, 2,
                     rows([](mlir::OpBuilder &builder, tile::MeetOp op) {
                       return mlir::arith::ConstantIntOp::create(
                           builder, op.getLoc(), 1, 32);
                     })),
             Catch::Contains("nothing that is specified"));
  CHECK_THAT(planted(of, 2,
                     rows([](mlir::OpBuilder &builder, tile::MeetOp op) {
                       auto unit = tile::UnitOp::create(
                           builder, op.getLoc(), builder.getI32Type());
                       return mlir::arith::AddIOp::create(
                           builder, op.getLoc(), op.getRows(), unit);
                     })),
             Catch::Contains("rows where another unit brings"));
  // A unit that never comes.
  CHECK_THAT(planted(of, 2,
                     [](tile::FuncOp func) {
                       tile::MeetOp meet = meetingOf(func);
                       auto loop = meet->getParentOfType<mlir::scf::ForOp>();
                       mlir::OpBuilder builder(loop);
                       auto unit = tile::UnitOp::create(
                           builder, loop.getLoc(), builder.getI32Type());
                       auto add = mlir::arith::AddIOp::create(
                           builder, loop.getLoc(), loop.getLowerBound(),
                           mlir::arith::MulIOp::create(
                               builder, loop.getLoc(), unit,
                               mlir::arith::ConstantIntOp::create(
                                   builder, loop.getLoc(), 1000, 32)));
                       loop.setLowerBound(add);
                     }),
             Catch::Contains("waits for a role that does not go on"));
}

TEST_CASE("parts that units cannot share are named") {
  auto why = [](const Parts &parts, int64_t units, int64_t k = 32) {
    Case of = caseOf(parts);
    return lowering::whyNot(of.contract(), of.op(), split(units, 1, 8, k))
        .value_or("");
  };
  CHECK(why(kParts[0], 8) == "");
  CHECK_THAT(why({"rank:6@64 step:* k:16", R"("rank pairwise")", "384"}, 4),
             Catch::Contains("node dot: schedule: split is 4; 4 units cannot "
                             "divide 6 parts evenly"));
  // Stages of 64: 1 of the last part, and then 0.
  CHECK(why({"rank:8@64 step:* k:16", R"("rank fold")", "449"}, 8, 64) == "");
  CHECK_THAT(why({"rank:8@64 step:* k:16", R"("rank fold")", "448"}, 8, 64),
             Catch::Contains("8 units cannot divide 7 parts evenly"));
  CHECK_THAT(why({"rank:8@64 step:* k:16", R"("rank fold")", "470"}, 8),
             Catch::Contains("parts of unit 7 are not those of unit 0, 448 "
                             "elements further on"));
  Case chain = openMatmul();
  CHECK_THAT(
      lowering::whyNot(chain.contract(), chain.op(), split(2)).value_or(""),
      Catch::Contains("2 units cannot divide 1 part evenly"));
}
