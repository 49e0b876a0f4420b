// TileFaultTest.cpp - wrong tile kernels, and how what is wrong is named
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// The operations of the lowered kernel that faults are planted at.
struct Places {
  explicit Places(tile::FuncOp func) : func(func) {
    func.walk([&](Operation *op) {
      if (auto each = dyn_cast<tile::FetchOp>(op)) {
        // What is copied early has faults of its own, in tests/faults.
        if (!each.getBlock().getDefiningOp<tile::EarlyOp>())
          fetches.push_back(each);
      } else if (auto each = dyn_cast<tile::WaitOp>(op))
        waits.push_back(each);
      else if (auto each = dyn_cast<tile::DotOp>(op))
        dots.push_back(each);
      else if (auto each = dyn_cast<tile::ReleaseOp>(op))
        releases.push_back(each);
    });
    REQUIRE(fetches.size() == 2);
    REQUIRE(waits.size() == 2); // of the first stage, and of the others
    REQUIRE(dots.size() == 2);
    REQUIRE(releases.size() == 2);
  }
  template <typename OpType> OpType only() {
    SmallVector<OpType> found;
    func.walk([&](OpType op) { found.push_back(op); });
    REQUIRE(found.size() == 1);
    return found.front();
  }
  tile::FuncOp func;
  std::vector<tile::FetchOp> fetches;
  std::vector<tile::WaitOp> waits;
  std::vector<tile::DotOp> dots;
  std::vector<tile::ReleaseOp> releases;
};

/// What the proof says of a kernel after `plant`; before, it has nothing to
/// say.
std::string saidOf(llvm::function_ref<void(Places &)> plant) {
  Case of = openMatmul();
  TileKernel kernel = lower(of, tiles(8, 4, 32, 3, 2, 2));
  REQUIRE(succeeded(
      interpreter::proveSchedule(of.contract(), of.op(), kernel.func)));
  Places places(kernel.func);
  plant(places);
  Said said;
  REQUIRE(
      failed(interpreter::proveSchedule(of.contract(), of.op(), kernel.func)));
  return said.text;
}

Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

} // namespace

TEST_CASE("an operand of the stage before is another tree") {
  std::string said = saidOf([](Places &at) {
    at.dots[1].getBMutable().set(at.waits[0].getResult(1));
    at.only<tile::SettleOp>().setBehind(0);
  });
  CHECK_THAT(said, Contains("does not keep its contract: node 'dot', element "
                            "[0, 0] of 'y', extent 33: the kernel's tree is "
                            "not the contract's"));
  CHECK_THAT(said, Contains("of x[0, 32] * weight[0, 0] the contract has "
                            "nothing there"));
}

TEST_CASE("stages in descending order are another tree") {
  std::string said = saidOf([](Places &at) {
    // Of what was copied early none would be in that order.
    at.func.walk([](tile::EarlyOp early) {
      auto stages = early->getParentOfType<scf::ForOp>();
      stages.getUpperBound().replaceAllUsesWith(stages.getLowerBound());
    });
    auto depth = at.fetches[0].getCol().getDefiningOp<arith::MulIOp>();
    auto loop = depth->getParentOfType<scf::ForOp>();
    OpBuilder builder(depth);
    Value last = arith::SubIOp::create(builder, depth.getLoc(),
                                       loop.getUpperBound(), loop.getStep());
    depth->setOperand(0, arith::SubIOp::create(builder, depth.getLoc(), last,
                                               loop.getInductionVar()));
  });
  CHECK_THAT(said, Contains("extent 33: the kernel's tree is not the "
                            "contract's"));
}

TEST_CASE("a stage that was not waited for") {
  std::string said = saidOf([](Places &at) {
    at.waits[1].replaceAllUsesWith(at.waits[0].getResults());
    at.waits[1].erase();
    at.only<tile::SettleOp>().setBehind(0);
  });
  CHECK_THAT(said, Contains("tile.release of program 0, consumer 0: gives back "
                            "a stage that it has not waited for"));
}

TEST_CASE("a stage that was given back") {
  std::string said = saidOf([](Places &at) {
    at.releases[0]->moveBefore(at.dots[1]);
    at.dots[1].getBMutable().set(at.waits[0].getResult(1));
    at.dots[0].getResult(); // its products are settled first:
    OpBuilder builder(at.releases[0]);
    auto carried = at.dots[1].getSums();
    Value settled = tile::SettleOp::create(builder, at.dots[1].getLoc(),
                                           carried.getType(), carried, 0);
    at.dots[1].getSumsMutable().assign(settled);
  });
  CHECK_THAT(said, Contains("tile.dot of program 0, consumer 0: reads a stage "
                            "that it has given back"));
}

TEST_CASE("a stage that products may still read") {
  std::string said = saidOf([](Places &at) {
    auto settle = at.only<tile::SettleOp>();
    settle.replaceAllUsesWith(settle.getSums());
    settle.erase();
  });
  CHECK_THAT(said, Contains("tile.release of program 0, consumer 0: gives back "
                            "a stage that products may still read"));
}

TEST_CASE("a last stage that is not whole is missing") {
  Case of = openMatmul();
  TileKernel kernel = lower(of, tiles(8, 4, 32, 3, 2, 2));
  Places at(kernel.func);
  auto loop = at.fetches[0]->getParentOfType<scf::ForOp>();
  auto blocks = loop.getUpperBound().getDefiningOp<arith::DivUIOp>();
  auto beyond = blocks.getLhs().getDefiningOp<arith::AddIOp>();
  blocks->setOperand(0, beyond.getLhs());
  auto report = interpreter::interpretTrees(of.contract(), of.op(), kernel.func,
                                            productDims(3, 3, 70), 1);
  REQUIRE(succeeded(report));
  REQUIRE(!report->equal());
  CHECK_THAT(report->differences[0],
             Contains("extent 70: the kernel's tree is not the contract's"));
  CHECK_THAT(report->differences[0], Contains("; x64 and 5 more are missing"));
  // Where there is no other stage, consumers wait in vain.
  Said said;
  CHECK(
      failed(interpreter::proveSchedule(of.contract(), of.op(), kernel.func)));
  CHECK_THAT(said.text, Contains("tile.wait of program 0, consumer 0: waits "
                                 "for a role that does not go on"));
}

TEST_CASE("rows of another consumer") {
  std::string said = saidOf([](Places &at) {
    at.func.walk([&](tile::RowsOp rows) {
      OpBuilder builder(rows);
      rows.getNumberMutable().set(constant(builder, rows.getLoc(), 0));
    });
  });
  CHECK_THAT(said, Contains("element [4, 0] of 'y', extent 1: the kernel's "
                            "tree is not the contract's"));
  CHECK_THAT(said, Contains("of x[0, 0] * weight[0, 0] the contract has "
                            "nothing there"));
}

TEST_CASE("results at the rows of another consumer") {
  std::string said = saidOf([](Places &at) {
    auto put = at.only<tile::PutOp>();
    auto sum = put.getRow().getDefiningOp<arith::AddIOp>();
    put.getRowMutable().set(sum.getLhs());
  });
  CHECK_THAT(said, Contains("writes element [0, 0] of tensor 'y' a second "
                            "time"));
}

TEST_CASE("results of fewer columns than their tensor has") {
  std::string said = saidOf([](Places &at) {
    auto view = at.only<tile::PutOp>().getView().getDefiningOp<tile::ViewOp>();
    view.getColsMutable().assign(at.func.slot("in"));
  });
  // With a sum over one element.
  CHECK_THAT(said, Contains("element 1 of output 'y' was never written"));
}

TEST_CASE("results with the stride of another tensor") {
  std::string said = saidOf([](Places &at) {
    auto view = at.only<tile::PutOp>().getView().getDefiningOp<tile::ViewOp>();
    view.getStrideMutable().assign(at.func.slot("weight:0"));
  });
  CHECK_THAT(said, Contains("is outside of tensor 'y'"));
}

TEST_CASE("a stage that is not given back") {
  std::string said = saidOf([](Places &at) { at.releases[1].erase(); });
  CHECK_THAT(said, Contains("ends with 2 stages acquired, 2 committed and 0 "
                            "released by consumer 0"));
}

TEST_CASE("a stage of which a block was not fetched") {
  std::string said = saidOf([](Places &at) { at.fetches[1].erase(); });
  CHECK_THAT(said, Contains("tile.commit of program 0, producer: block 1 has "
                            "not been fetched"));
}

TEST_CASE("a block that is fetched after its stage was committed") {
  std::string said = saidOf([](Places &at) {
    Operation *commit = at.fetches[1]->getNextNode();
    OpBuilder builder(at.fetches[1]);
    builder.setInsertionPointAfter(commit);
    builder.clone(*at.fetches[1]);
  });
  CHECK_THAT(said, Contains("tile.fetch of program 0, producer: writes a stage "
                            "that it has committed"));
}

/// Of the blocks of the first operand, which have eight rows, and one box.
static Value boxesMore(tile::FetchOp fetch, int64_t more) {
  OpBuilder builder(fetch);
  Location loc = fetch.getLoc();
  return arith::AddIOp::create(builder, loc, fetch.getBoxes(),
                               constant(builder, loc, more));
}

TEST_CASE("a box that is left out although it has rows") {
  // With the bytes of what is left, so that nobody waits for it.
  std::string said = saidOf([](Places &at) {
    auto commit = at.only<tile::CommitOp>();
    at.fetches[0].getBoxesMutable().assign(boxesMore(at.fetches[0], -1));
    OpBuilder builder(commit);
    commit.getBytesMutable().assign(
        constant(builder, commit.getLoc(), 4 * 32 * 2));
  });
  CHECK_THAT(said, Contains("of x[outside] * weight[0, 0] the contract has "
                            "nothing there"));
}

TEST_CASE("numbers of a row that was not copied are not stored") {
  Case of = openMatmul();
  TileKernel kernel = lower(of, tiles(8, 4, 32, 3, 2, 2));
  Places at(kernel.func);
  at.fetches[0].getBoxesMutable().assign(boxesMore(at.fetches[0], -1));
  auto commit = at.only<tile::CommitOp>();
  OpBuilder builder(commit);
  commit.getBytesMutable().assign(constant(builder, commit.getLoc(), 256));
  std::mt19937 random(1);
  interpreter::Dims dims = productDims(9, 4, 32);
  interpreter::Tensors all = tensorsOf(of, dims, random);
  Said said;
  REQUIRE(failed(interpreter::interpretNumbers(kernel.func, all, dims, 1)));
  CHECK_THAT(said.text,
             Contains("tile.put: row 0 of tensor 'x' was not copied"));
}

TEST_CASE("a box below the last row of a block") {
  std::string said = saidOf([](Places &at) {
    at.fetches[0].getBoxesMutable().assign(boxesMore(at.fetches[0], 1));
  });
  CHECK_THAT(said, Contains("tile.fetch of program 0, producer: copies 2 boxes "
                            "of 8 rows to a block of 8"));
}

TEST_CASE("a number of bytes that are not copied") {
  std::string said = saidOf([](Places &at) {
    auto commit = at.only<tile::CommitOp>();
    OpBuilder builder(commit);
    commit.getBytesMutable().assign(
        arith::AddIOp::create(builder, commit.getLoc(), commit.getBytes(),
                              constant(builder, commit.getLoc(), 64)));
  });
  // 8 rows of x and 4 of the weight, each 32 elements of two bytes.
  CHECK_THAT(said, Contains("tile.commit of program 0, producer: expects 832 "
                            "bytes of a stage, of which 768 are copied"));
}

TEST_CASE("sums that other products have gone on with") {
  std::string said = saidOf([](Places &at) {
    at.dots[1].getSumsMutable().assign(at.dots[0].getResult());
  });
  CHECK_THAT(said, Contains("takes sums that other products have gone on "
                            "with"));
}

TEST_CASE("a group of blocks that is lower than the program thinks") {
  std::string said = saidOf([](Places &at) {
    // Of the group's height, and what is left of rows of blocks.
    at.func.walk([](arith::MinUIOp least) {
      if (least.getLhs().getDefiningOp<arith::ConstantOp>())
        least.replaceAllUsesWith(least.getLhs());
    });
  });
  // The last block is moved back onto the one that was forgotten, and so is another.
  CHECK_THAT(said, Contains("a second time"));
}

TEST_CASE("a last block that is moved back too far") {
  std::string said = saidOf([](Places &at) {
    at.func.walk([](arith::SubIOp last) {
      if (!last.getRhs().getDefiningOp<arith::MinUIOp>())
        return;
      OpBuilder builder(last->getBlock(), std::next(last->getIterator()));
      Value one = arith::ConstantIntOp::create(builder, last.getLoc(), 1, 32);
      auto less = arith::SubIOp::create(builder, last.getLoc(), last, one);
      last.getResult().replaceAllUsesExcept(less, less);
    });
  });
  // Of one row more than a block has, the second block is then where the first is.
  CHECK_THAT(said, Contains("writes element [0, 0] of tensor 'y' a second time"));
}

TEST_CASE("another operation on the sum") {
  std::string said = saidOf([](Places &at) {
    auto narrow = at.only<kernel::NarrowOp>();
    OpBuilder builder(narrow);
    narrow->setOperand(0, arith::NegFOp::create(builder, narrow.getLoc(),
                                                narrow->getOperand(0)));
  });
  CHECK_THAT(said, Contains("element [0, 0] of 'y': the contract has narrow "
                            "bf16("));
}
