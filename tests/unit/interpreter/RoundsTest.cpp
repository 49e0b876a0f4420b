// RoundsTest.cpp - long rows, proved with rounds of their loops left out
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Agreement.h"
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// Blocks of 128 elements, 312 of them full and one of 64.
constexpr int64_t kExtent = 40000, kBlock = 128;
const char *const kDigits = "sweep:* lane:32 pack:4";

Case sum(
    const char *merges = R"("pack chain", "sweep chain", "lane halving")") {
  return readText(sumContract(std::to_string(kExtent), kDigits, merges));
}
Case state() {
  return readText(stateContract(
      std::to_string(kExtent), kDigits,
      R"("pack chain", "sweep carry", "lane halving merge")", "online"));
}

/// Whether all but `kept` full blocks may be left out.
bool agrees(const Case &of, const Kernel &kernel, int64_t kept,
            int64_t *advance = nullptr) {
  interpreter::Launch launch{kExtent, 1, {}, {}, {}};
  launch.leftOut = {kept * kBlock, (312 - kept) * kBlock};
  bool result = interpreter::treesAgree(of.contract(), of.op(), kernel.steps,
                                        launch);
  if (advance)
    *advance = launch.leftOut.advance;
  return result;
}

scf::ForOp loopOf(kernel::FuncOp func) {
  scf::ForOp found;
  func.walk([&](scf::ForOp loop) {
    if (loop->getNumResults())
      found = loop;
  });
  return found;
}

/// In one round, far from both ends of the row.
Value isRound(OpBuilder &builder, scf::ForOp loop, int64_t number) {
  Location loc = loop.getLoc();
  Value round = arith::ConstantOp::create(builder, loc,
                                          builder.getI64IntegerAttr(number));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               loop.getInductionVar(), round);
}

} // namespace

TEST_CASE("rounds that do what others do may be left out") {
  for (const Case &of :
       {sum(), state(), sum(R"("pack chain", "lane halving", "sweep fold")")})
    for (int64_t lanes : {4, 32})
      for (int64_t ahead : {0, 1}) {
        auto kernel = lower(
            of,
            schedule("row_per_group", lanes, lanes, 1, 16).withAhead(ahead));
        REQUIRE(kernel);
        INFO(kernel->func.getSchedule().text());
        int64_t advance = 0;
        bool shortened = agrees(of, *kernel, 3, &advance);
        CHECK((shortened || advance > 0));
        if (!shortened) // several blocks in a round
          CHECK(agrees(of, *kernel,
                       312 % (advance / kBlock) + 3 * (advance / kBlock)));
      }
}

TEST_CASE("a row in each lane: loops in a loop over scratch") {
  auto kernel = lower(state(), schedule("row_per_lane", 8, 8, 1, 16));
  REQUIRE(kernel);
  CHECK(agrees(state(), *kernel, 3));
}

TEST_CASE("what one round does differently is found") {
  for (const Case &of : {sum(), state()}) {
    auto make = [&] {
      auto kernel = lower(of, schedule("row_per_group", 32, 32, 1, 4));
      REQUIRE(kernel);
      REQUIRE(loopOf(kernel->func));
      return std::move(*kernel);
    };
    Kernel right = make();
    REQUIRE(agrees(of, right, 3));

    Kernel address = make();
    kernel::LoadOp load;
    loopOf(address.func).walk([&](kernel::LoadOp op) { load = op; });
    OpBuilder builder(load);
    Value one =
        arith::ExtUIOp::create(builder, load.getLoc(), builder.getI64Type(),
                               isRound(builder, loopOf(address.func), 100));
    load.getOffsetMutable().assign(
        arith::AddIOp::create(builder, load.getLoc(), load.getOffset(), one));
    CHECK_FALSE(agrees(of, address, 3));

    Kernel value = make();
    scf::ForOp loop = loopOf(value.func);
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    builder.setInsertionPoint(yield);
    Value skips = isRound(builder, loop, 100);
    yield->setOperand(0, arith::SelectOp::create(builder, loop.getLoc(), skips,
                                                 loop.getRegionIterArgs()[0],
                                                 yield->getOperand(0)));
    CHECK_FALSE(agrees(of, value, 3));
    Said said;
    CHECK(failed(
        interpreter::proveSchedule(of.contract(), of.op(), value.steps)));
    CHECK_THAT(said.text, Contains("does not keep its contract"));

    // Every round after the first is wrong, those left out like the others.
    Kernel all = make();
    loop = loopOf(all.func);
    loop.walk([&](kernel::LoadOp op) { load = op; });
    load.setLaneStride(load.getLaneStride() - 1);
    CHECK_FALSE(agrees(of, all, 3));
  }
}

TEST_CASE("a loop of one round less, or of other steps") {
  for (int64_t less : {0, 1}) {
    auto kernel = lower(sum(), schedule("row_per_group", 32, 32, 1, 4));
    REQUIRE(kernel);
    scf::ForOp loop = loopOf(kernel->func);
    OpBuilder builder(loop);
    auto number = [&](int64_t value) {
      return arith::ConstantOp::create(builder, loop.getLoc(),
                                       builder.getI64IntegerAttr(value));
    };
    if (less)
      loop.setUpperBound(arith::SubIOp::create(
          builder, loop.getLoc(), loop.getUpperBound(), number(1)));
    else
      loop.setStep(arith::AddIOp::create(builder, loop.getLoc(), loop.getStep(),
                                         loop.getStep()));
    CHECK_FALSE(agrees(sum(), *kernel, 3));
  }
}

TEST_CASE("nothing is left out where blocks are not visited in turn") {
  Case of = sum(R"("pack chain", "lane halving", "sweep pairwise")");
  for (kernel::ScheduleAttr one : {schedule("row_per_group", 32, 32, 1, 4),
                                   schedule("row_per_lane", 8, 8, 1, 16)})
    if (auto kernel = lower(of, one)) {
      Said said;
      CHECK(succeeded(
          interpreter::proveSchedule(of.contract(), of.op(), kernel->steps)));
    }
}
