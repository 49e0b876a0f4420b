// TilePartsTest.cpp - tile kernels whose sums have parts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

struct Parts {
  std::string partition, merges, in;
};

/// Whole parts, a last one that is short, some that have no element, several
/// digits of them, and what rounds.
const Parts kAtoms[] = {
    {"rank:8@64 step:* k:16", R"("rank pairwise")", "512"},
    {"rank:8@64 step:* k:16", R"("rank fold")", "500"},
    {"rank:8@64 step:* k:16", R"("rank pairwise from bf16 in bf16")", "330"},
    {"rank:8@64 step:* k:16", R"("rank halving from f16")", "470"},
    {"rank:3@64 step:* k:16", R"("rank pairwise in bf16")", "130"},
    {"node:2@192 rank:4@64 step:* k:16",
     R"("rank fold in f16", "node pairwise from bf16")", "377"},
    {"rank:*@64 step:4 k:16", R"("rank fold from bf16")", "257"},
    {"rank:8@64 step:* k:16", R"("rank pairwise from bf16")", "60"}};

Case atomsOf(const Parts &parts, const std::string &output = "bf16") {
  return readText(matmulContract(
      "bf16", "dot.nv(16,25)", parts.partition,
      R"m("k fused(dot.nv(16,25))", "step chain", )m" + parts.merges, output,
      parts.in));
}

Case chainOf(const Parts &parts) {
  std::string digits = parts.partition.substr(0, parts.partition.find(" step"));
  if (parts.partition.find("rank:*") != std::string::npos)
    digits += " k:64";
  else
    digits += " k:*";
  return readText(matmulContract("f32", "dot.fma.f32", digits,
                                 R"("k chain", )" + parts.merges, "f32",
                                 parts.in));
}

std::vector<tile::ScheduleAttr> rolesOf() {
  return {tiles(128, 128, 64, 4, 2, 8), tiles(8, 4, 16, 2, 1, 1),
          tiles(12, 8, 32, 3, 3, 2), tiles(8, 4, 16, 4, 2, 1, "async"),
          tiles(4, 12, 32, 3, 1, 2, "registers")};
}

tile::ScheduleAttr own(int64_t m, int64_t n, int64_t k) {
  return tile::ScheduleAttr::get(&context(), m, n, k, 1, 1, 2, "own", 0, 0,
                                 /*cluster=*/1, /*held=*/0, 2, 4, 4);
}

bool visitsInOrder(const Parts &parts) {
  return parts.merges.find("halving") == std::string::npos;
}

void expectBytes(const Case &of, tile::ScheduleAttr schedule,
                 const std::string &in, std::mt19937 &random) {
  reference::Evaluator oracle(of.read.canonical);
  TileKernel kernel = lower(of, schedule);
  for (auto [tokens, out] : {std::pair(1, 1), {17, 9}, {29, 21}}) {
    bool isOwn = schedule.packsOwn();
    int64_t blocks = ((tokens - 1) / schedule.getM() + 1) *
                     ((out - 1) / schedule.getN() + 1);
    INFO(schedule.text() << ": " << tokens << " x " << out << " x " << in);
    interpreter::Dims dims = productDims(tokens, out, std::stol(in));
    interpreter::Tensors all = tensorsOf(of, dims, random), given = all;
    given.erase("y");
    Said said;
    auto got = interpreter::interpretNumbers(kernel.func, all, dims,
                                             isOwn ? blocks : 3);
    INFO(said.text);
    REQUIRE(succeeded(got));
    CHECK(oracle.run(given, 1).at("y").bytes == got->at("y").bytes);
  }
}

std::string proved(const Case &of, tile::FuncOp func) {
  Said said;
  bool holds =
      succeeded(interpreter::proveSchedule(of.contract(), of.op(), func));
  return holds ? "holds" : said.text;
}

} // namespace

TEST_CASE("sums with parts have the oracle's bytes and the declared trees") {
  std::mt19937 random(6);
  for (const Parts &parts : kAtoms) {
    Case atoms = atomsOf(parts), chain = chainOf(parts);
    INFO(parts.partition << ", " << parts.merges << ", " << parts.in);
    std::vector<tile::ScheduleAttr> schedules = rolesOf();
    for (tile::ScheduleAttr each : schedules) {
      if (each.sharesCopies() && !visitsInOrder(parts)) {
        CHECK_THAT(lowering::whyNot(atoms.contract(), atoms.op(), each).value(),
                   Catch::Contains("merged by fold or pairwise"));
        continue;
      }
      for (const Case *of : {&atoms, &chain})
        expectBytes(*of, each, parts.in, random);
      CHECK(proved(atoms, lower(atoms, each).func) == "holds");
    }
    for (const Case *of : {&atoms, &chain}) {
      expectBytes(*of, own(8, 12, 32), parts.in, random);
      CHECK(proved(*of, lower(*of, own(8, 12, 32)).func) == "holds");
    }
  }
}

TEST_CASE("slots are as many as the tree is deep to the right") {
  auto slots = [](const std::string &merge) {
    int64_t most = -1;
    Case of = atomsOf({"rank:8@64 step:* k:16", merge, "512"});
    TileKernel kernel = lower(of, tiles(8, 4, 16, 2, 1, 1));
    kernel.func.walk([&](tile::HoldOp op) {
      most = std::max(most, int64_t(op.getSlot()));
    });
    return most + 1;
  };
  CHECK(slots(R"("rank pairwise")") == 3);
  CHECK(slots(R"("rank halving")") == 3);
  CHECK(slots(R"("rank fold")") == 1);
}

TEST_CASE("parts that meet otherwise are found") {
  Case of = atomsOf({"rank:4@64 step:* k:16", R"("rank pairwise from bf16")",
                     "256"});
  auto planted = [&](llvm::function_ref<void(tile::FuncOp)> plant) {
    TileKernel kernel = lower(of, tiles(8, 4, 16, 2, 1, 1));
    REQUIRE(proved(of, kernel.func) == "holds");
    plant(kernel.func);
    return proved(of, kernel.func);
  };
  // The first two parts in one slot after the other.
  CHECK_THAT(planted([](tile::FuncOp func) {
               func.walk([](tile::HoldOp op) { op.setSlot(0); });
             }),
             Catch::Contains("uses values of slot 0, which others have taken"));
  // Another tree of the same parts.
  CHECK_THAT(planted([](tile::FuncOp func) {
               std::vector<tile::MapOp> maps;
               func.walk([&](tile::MapOp op) {
                 if (op.getValues().size() == 2)
                   maps.push_back(op);
               });
               REQUIRE(maps.size() == 3);
               mlir::Value last = maps[1].getValues()[1];
               maps[1]->setOperand(1, maps[2].getValues()[0]);
               maps[2]->setOperand(0, last);
             }),
             Catch::Contains("does not keep its contract"));
  // A part that is doubled.
  CHECK_THAT(planted([](tile::FuncOp func) {
               bool done = false;
               func.walk([&](kernel::NarrowOp op) {
                 if (done || !op.getA().getType().isF32())
                   return;
                 done = true;
                 mlir::OpBuilder builder(op);
                 op->setOperand(0, mlir::arith::AddFOp::create(
                                       builder, op.getLoc(), op.getA(),
                                       op.getA()));
               });
             }),
             Catch::Contains("does not keep its contract"));
  // Rows of another block.
  CHECK_THAT(planted([](tile::FuncOp func) {
               func.walk([](tile::FetchOp op) {
                 op->setOperand(1, op.getCol());
               });
             }),
             Catch::Contains("does not keep its contract"));
}

TEST_CASE("parts that tiles do not compute are named") {
  auto why = [](const Parts &parts, int64_t k) {
    Case of = atomsOf(parts);
    return lowering::whyNot(of.contract(), of.op(), tiles(8, 4, k, 2, 1, 1))
        .value_or("");
  };
  CHECK(why({"rank:8@64 step:* k:16", R"("rank fold")", "512"}, 64) == "");
  CHECK_THAT(why({"rank:8@64 step:* k:16", R"("rank fold")", "512"}, 128),
             Catch::Contains("blocks of 'rank' have 64 elements, which stages "
                             "of 128 do not divide"));
  CHECK_THAT(why({"rank:8@72 step:* k:16", R"("rank fold")", "512"}, 16),
             Catch::Contains("which steps of 16 do not divide"));
  CHECK_THAT(why({"rank:*@16 step:1 k:16", R"("rank fold")", "512"}, 16),
             Catch::Contains("cut 32 parts; tiles compute up to 16"));
  CHECK_THAT(why({"rank:*@64 step:4 k:16", R"("rank fold")", "\"*\""}, 64),
             Catch::Contains("over a dim of any extent"));
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t kRanks = 8, kTokens = 5, kOut = 7;

/// Columns [first, first + count) of every row.
reference::Tensor columns(const reference::Tensor &all, int64_t first,
                          int64_t count) {
  reference::Tensor part = all;
  part.shape[1] = count;
  part.bytes.clear();
  size_t width = size_t(algebra::bytes(all.format));
  for (int64_t row = 0; row < all.shape[0]; ++row) {
    auto begin = all.bytes.begin() +
                 ptrdiff_t(size_t(row * all.shape[1] + first) * width);
    part.bytes.insert(part.bytes.end(), begin,
                      begin + ptrdiff_t(size_t(count) * width));
  }
  return part;
}

/// What ranks have sent, one after the other, merged as the contract says.
Case mergeOf(int64_t ranks, const std::string &format,
             const std::string &merge) {
  return readText(R"({"bitpact": 1, "name": "test/merge", "op": "column_sum@1",
  "dims": {"tokens": )" + std::to_string(ranks) + R"(, "hidden": "*"},
  "types": {"x": ")" + format + R"(", "y": ")" + format + R"("}, "params": {},
  "nodes": {"sum": {"domain": "tokens", "partition": "rank:)" +
                  std::to_string(ranks) + R"(", "merge": [)" + merge +
                  R"(], "start": "first", "precision": {"accumulator": "f32"}}},
  "rounding": {"y": ")" + format + R"( rne"}, "primitives": {"sum.step": "add.f32"}})");
}

/// The bytes of `ranks` that each compute their share of eight parts of `length`
/// elements and send it in `format`.
std::vector<uint8_t> shared(int64_t ranks, int64_t length,
                            const std::string &format,
                            const std::string &partMerge,
                            const std::string &rankMerge,
                            const interpreter::Tensors &given) {
  int64_t own = kRanks / ranks, in = own * length;
  std::string digits = own > 1 ? "rank:" + std::to_string(own) + "@" +
                                     std::to_string(length) + " step:* k:16"
                               : "step:* k:16";
  Case share = readText(matmulContract(
      "bf16", "dot.nv(16,25)", digits,
      R"m("k fused(dot.nv(16,25))", "step chain")m" +
          (own > 1 ? ", " + partMerge : ""),
      format, std::to_string(in)));
  reference::Evaluator oracle(share.read.canonical);
  reference::Tensor sent;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    interpreter::Tensors mine;
    for (const auto &[name, tensor] : given)
      mine[name] = columns(tensor, rank * in, in);
    reference::Tensor y = oracle.run(mine, 1).at("y");
    // A kernel of such a share gives the same.
    TileKernel kernel = lower(share, tiles(8, 4, 16, 2, 1, 1));
    interpreter::Tensors all = mine;
    all["y"] = {y.format, y.shape, {}};
    auto got = interpreter::interpretNumbers(
        kernel.func, all, productDims(kTokens, kOut, in), 2);
    REQUIRE(succeeded(got));
    CHECK(got->at("y").bytes == y.bytes);
    sent.format = y.format;
    sent.bytes.insert(sent.bytes.end(), y.bytes.begin(), y.bytes.end());
  }
  sent.shape = {ranks, kTokens * kOut};
  Case merge = mergeOf(ranks, format, rankMerge);
  return reference::Evaluator(merge.read.canonical)
      .run({{"x", sent}}, 1)
      .at("y")
      .bytes;
}

} // namespace

TEST_CASE("shares of 1, 2, 4 and 8 ranks merge to the bits of the whole") {
  std::mt19937 random(7);
  struct Sent {
    std::string format, parts, ranks;
  };
  for (const Sent &sent :
       {Sent{"f32", R"("rank pairwise")", R"("rank pairwise")"},
        Sent{"bf16", R"("rank pairwise from bf16 in bf16")",
             R"("rank pairwise in bf16")"}})
    for (int64_t length : {48, 64}) {
      std::string in = std::to_string(kRanks * length);
      Case whole = atomsOf({"rank:8@" + std::to_string(length) +
                                " step:* k:16",
                            sent.parts, in}, sent.format);
      interpreter::Tensors given = tensorsOf(
          whole, productDims(kTokens, kOut, kRanks * length), random, true);
      given.erase("y");
      std::vector<uint8_t> want =
          reference::Evaluator(whole.read.canonical).run(given, 1).at("y").bytes;
      for (int64_t ranks : {1, 2, 4, 8}) {
        INFO(sent.format << ", " << length << ", ranks " << ranks);
        CHECK(shared(ranks, length, sent.format, sent.parts, sent.ranks,
                     given) == want);
      }
      // In another order they do not: this can fail.
      CHECK(shared(8, length, sent.format, sent.parts,
                   sent.format == "f32" ? R"("rank fold")"
                                        : R"("rank fold in bf16")",
                   given) != want);
      // Nor does the undivided chain.
      Case chain = readText(matmulContract(
          "bf16", "dot.nv(16,25)", "step:* k:16",
          R"m("k fused(dot.nv(16,25))", "step chain")m", sent.format, in));
      CHECK(reference::Evaluator(chain.read.canonical)
                .run(given, 1)
                .at("y")
                .bytes != want);
    }
}
