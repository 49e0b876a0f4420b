// FaultTest.cpp - wrong kernels, and how the proof names what is wrong
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// What the proof says about the kernel after `plant` has changed it in
/// `places` places.
std::string saidOf(const Case &of, kernel::ScheduleAttr schedule,
                   llvm::function_ref<int(kernel::FuncOp)> plant, int places) {
  std::optional<Kernel> kernel = lower(of, schedule);
  REQUIRE(kernel);
  REQUIRE(succeeded(
      interpreter::proveSchedule(of.contract(), of.op(), kernel->func)));
  REQUIRE(plant(kernel->func) == places);
  Said said;
  REQUIRE(
      failed(interpreter::proveSchedule(of.contract(), of.op(), kernel->func)));
  return said.text;
}

int exchangesReversed(kernel::FuncOp func) {
  int changed = 0;
  func.walk([&](kernel::ExchangeOp op) {
    op.setDistance(32 / (2 * op.getDistance()));
    ++changed;
  });
  return changed;
}

Case sumOf(const std::string &partition, const std::string &merges,
           int64_t extent = 257, const std::string &start = "identity") {
  return readText(
      sumContract(std::to_string(extent), partition, merges, start));
}

const char *const kHalving = R"("sweep chain", "lane halving")";
const char *const kPairwise = R"("sweep chain", "lane pairwise")";

} // namespace

TEST_CASE("exchange distances in the other order are another tree") {
  for (const char *merges : {kHalving, kPairwise}) {
    // Of five distances the middle one stays where it is.
    std::string said =
        saidOf(sumOf("sweep:* lane:32", merges),
               schedule("row_per_group", 32, 32, 0, 4), exchangesReversed, 5);
    CHECK_THAT(said, Contains("does not keep its contract: node 'sum', row 0, "
                              "extent 257: the kernel's tree is not the "
                              "contract's"));
  }
}

TEST_CASE("a loop that ends a round early is another tree") {
  std::string said = saidOf(
      sumOf("sweep:* lane:32", kHalving, 256),
      schedule("row_per_group", 32, 32, 0, 1),
      [](kernel::FuncOp func) {
        int changed = 0;
        func.walk([&](scf::ForOp loop) {
          auto count = loop.getUpperBound().getDefiningOp<arith::ConstantOp>();
          OpBuilder builder(loop);
          auto bound = cast<IntegerAttr>(count.getValue()).getInt();
          loop.setUpperBound(arith::ConstantOp::create(
              builder, loop.getLoc(), builder.getI64IntegerAttr(bound - 1)));
          ++changed;
        });
        return changed;
      },
      1);
  // Lane 0 takes 0, 32, … 224; the last is missing.
  CHECK_THAT(said, Contains("node 'sum', row 0"));
  CHECK_THAT(said, Contains("x224"));
}

TEST_CASE("a mask that is one element short is another tree") {
  std::string said = saidOf(
      sumOf("sweep:* lane:32", kHalving, 70),
      schedule("row_per_group", 32, 32, 0, 1),
      [](kernel::FuncOp func) {
        int changed = 0;
        func.walk([&](arith::CmpIOp cmp) {
          auto broadcast = cmp.getRhs().getDefiningOp<vector::BroadcastOp>();
          auto limit =
              broadcast
                  ? broadcast.getSource().getDefiningOp<arith::ConstantOp>()
                  : arith::ConstantOp();
          if (!limit || cast<IntegerAttr>(limit.getValue()).getInt() != 70)
            return;
          OpBuilder builder(limit);
          auto shorter = arith::ConstantOp::create(
              builder, limit.getLoc(), builder.getI64IntegerAttr(69));
          broadcast->setOperand(0, shorter);
          ++changed;
        });
        return changed;
      },
      2);
  CHECK_THAT(said, Contains("node 'sum', row 0"));
  CHECK_THAT(said, Contains("x69"));
}

TEST_CASE("a mask that is one element long reads outside of the row") {
  std::string said = saidOf(
      sumOf("sweep:* lane:32", kHalving, 70),
      schedule("row_per_group", 32, 32, 0, 1),
      [](kernel::FuncOp func) {
        int changed = 0;
        func.walk([&](arith::CmpIOp cmp) {
          if (cmp.getPredicate() != arith::CmpIPredicate::slt)
            return;
          cmp.setPredicate(arith::CmpIPredicate::sle);
          ++changed;
        });
        return changed;
      },
      2);
  CHECK_THAT(said, Contains("kernel.load of program 0, lane 6: offset 70 is "
                            "outside of tensor 'x' with 140 elements"));
}

TEST_CASE("an accumulator that begins with +0 where the first element seeds") {
  std::string said = saidOf(
      sumOf("all:*", R"("all chain")", 9, "first"),
      schedule("row_per_lane", 1, 1, 0, 16),
      [](kernel::FuncOp func) {
        int changed = 0;
        func.walk([&](arith::ConstantOp constant) {
          auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          if (!dense || !isa<FloatType>(dense.getElementType()))
            return;
          OpBuilder builder(constant);
          constant.setValueAttr(DenseElementsAttr::get(
              dense.getType(), builder.getF32FloatAttr(0).getValue()));
          ++changed;
        });
        return changed;
      },
      1);
  CHECK_THAT(said, Contains("chain(id, x0"));
}

TEST_CASE("a rounding of partials that is left out") {
  std::string said = saidOf(
      sumOf("sweep:* lane:32", R"("sweep chain", "lane halving in bf16")"),
      schedule("row_per_group", 32, 32, 0, 4),
      [](kernel::FuncOp func) {
        std::vector<arith::ExtFOp> rounded;
        func.walk([&](arith::ExtFOp op) {
          if (op.getIn().getDefiningOp<kernel::NarrowOp>())
            rounded.push_back(op);
        });
        for (arith::ExtFOp op : rounded)
          op.replaceAllUsesWith(
              op.getIn().getDefiningOp<kernel::NarrowOp>().getA());
        return int(rounded.size());
      },
      5);
  CHECK_THAT(said, Contains("node 'sum', row 0"));
  CHECK_THAT(said, Contains("bf16("));
}

TEST_CASE("a wrong elementwise operation is named with its output") {
  // A product with n for the quotient, which is a product with 1/4096.
  Case norm = readFile(BITPACT_CONTRACTS "/library/qwen3-8b/rms_norm.json");
  std::string said = saidOf(
      norm, schedule("row_per_group", 32, 32, 16, 128),
      [](kernel::FuncOp func) {
        std::vector<arith::DivFOp> divisions;
        func.walk([&](arith::DivFOp op) { divisions.push_back(op); });
        arith::DivFOp first = divisions.front();
        OpBuilder builder(first);
        first.replaceAllUsesWith(arith::MulFOp::create(builder, first.getLoc(),
                                                       first.getLhs(),
                                                       first.getRhs())
                                     .getResult());
        return 1;
      },
      1);
  CHECK_THAT(said, Contains("output 'y', row 0, position 0, extent 4096: where "
                            "it first differs the contract has 0.000244140625 "
                            "and the kernel has 4096"));
}

TEST_CASE("long chains and folds are read without running out of stack") {
  auto swapped = [](kernel::FuncOp func) {
    int changed = 0;
    // The element that comes first comes from the place of the second.
    func.walk([&](kernel::LoadOp load) {
      OpBuilder builder(load);
      auto one = arith::ConstantOp::create(builder, load.getLoc(),
                                           builder.getI64IntegerAttr(1));
      load.getOffsetMutable().assign(
          arith::XOrIOp::create(builder, load.getLoc(), load.getOffset(), one));
      ++changed;
    });
    return changed;
  };
  for (const char *merges : {R"("all chain")", R"("all fold")"}) {
    Case sum = sumOf("all:*", merges, 16384, "first");
    std::optional<Kernel> kernel =
        lower(sum, schedule("row_per_lane", 1, 1, 0, 1));
    REQUIRE(kernel);
    REQUIRE(swapped(kernel->func) == 1);
    Said said;
    REQUIRE(failed(interpreter::proveSchedule(sum.contract(), sum.op(),
                                              kernel->func, 16384)));
    CHECK_THAT(said.text, Contains("node 'sum', row 0, extent 16384: "));
  }
}
