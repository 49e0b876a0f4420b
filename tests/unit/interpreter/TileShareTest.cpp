// TileShareTest.cpp - wrong kernels whose consumers copy, and what is said
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// The lowered kernel has three loops over stages: copies, both, products.
template <typename OpType> std::vector<OpType> all(tile::FuncOp func) {
  std::vector<OpType> found;
  func.walk([&](OpType op) { found.push_back(op); });
  return found;
}

/// What the proof says of a kernel after `plant`; before, it has nothing to
/// say.
std::string saidOf(llvm::StringRef copy,
                   llvm::function_ref<void(tile::FuncOp)> plant) {
  Case of = openMatmul();
  TileKernel kernel = lower(of, tiles(8, 4, 32, 3, 2, 2, copy));
  REQUIRE(succeeded(
      interpreter::proveSchedule(of.contract(), of.op(), kernel.func)));
  plant(kernel.func);
  Said said;
  REQUIRE(
      failed(interpreter::proveSchedule(of.contract(), of.op(), kernel.func)));
  return said.text;
}

} // namespace

TEST_CASE("a copy before the meeting overwrites what others may read") {
  std::string said = saidOf("async", [](tile::FuncOp func) {
    auto waits = all<tile::WaitOp>(func);
    REQUIRE(waits.size() == 2);
    // The copies of the loop move above its wait.
    Operation *commit = all<tile::CommitOp>(func)[1];
    while (waits[0]->getNextNode() != commit)
      waits[0]->getNextNode()->moveBefore(waits[0]);
    commit->moveBefore(waits[0]);
    waits[0].setAheadAttr({});
  });
  CHECK_THAT(said, Contains("takes a stage that consumers may still read: they "
                            "have not met since it was released"));
}

TEST_CASE("more stages on their way than have been committed") {
  std::string said = saidOf("async", [](tile::FuncOp func) {
    all<tile::WaitOp>(func)[0].setAhead(2);
  });
  CHECK_THAT(said, Contains("has committed 1 stages after the one it waits "
                            "for, where 2 may not have arrived"));
  // What lies in registers is committed later.
  said = saidOf("registers", [](tile::FuncOp func) {
    Operation *commit = all<tile::CommitOp>(func)[0];
    commit->erase();
  });
  CHECK_THAT(said, Contains("waits for a stage that it has not committed"));
}

TEST_CASE("shares of different blocks") {
  std::string said = saidOf("async", [](tile::FuncOp func) {
    auto fetch = all<tile::FetchOp>(func)[1];
    Value number =
        all<tile::RolesOp>(func)[0].getConsumers().front().getArgument(0);
    OpBuilder builder(fetch);
    fetch.getRowMutable().set(
        arith::AddIOp::create(builder, fetch.getLoc(), fetch.getRow(), number));
  });
  CHECK_THAT(said, Contains("tile.fetch of program 0, consumer 1: copies a "
                            "share of another block than others do"));
}

TEST_CASE("a share that a consumer does not copy") {
  std::string said = saidOf("registers", [](tile::FuncOp func) {
    all<tile::FetchOp>(func)[3].erase();
  });
  CHECK_THAT(said, Contains("tile.commit of program 0, consumer 1: block 1 has "
                            "not been fetched"));
}
