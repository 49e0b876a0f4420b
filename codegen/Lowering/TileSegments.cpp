// TileSegments.cpp - blocks of rows that are cut at offsets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// Offsets that are read side by side, since each takes as long as all.
static constexpr int64_t kOffsetsAtOnce = 8;

Value TileProgram::offsetAt(Value index) {
  return tile::OffsetOp::create(builder, loc, builder.getI32Type(),
                                func.slot(family.segments->offsets), index);
}

/// Offsets must ascend from 0 to the number of rows; then the rows behind those
/// of the last matrix have none.
void TileProgram::checkSegments() {
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, how, x, y);
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(builder, loc, x, y);
  };
  auto add = [&](Value x, int64_t y) -> Value {
    return arith::AddIOp::create(builder, loc, x, i32(y));
  };
  rows = narrow(func.slot(family.rowDim));
  matrices = narrow(func.slot(family.segments->stackDim));
  Value bounds = narrow(func.slot(family.segments->boundDim));
  Value last = add(bounds, -1);
  Value before = offsetAt(i32(0));
  isGood = compare(arith::CmpIPredicate::eq, before, i32(0));
  auto loop = scf::ForOp::create(builder, loc, i32(0), bounds,
                                 i32(kOffsetsAtOnce), {before, isGood});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Values read;
    for (int64_t i = 0; i < kOffsetsAtOnce; ++i)
      read.push_back(offsetAt(arith::MinUIOp::create(
          builder, loc, add(loop.getInductionVar(), i), last)));
    Value ascend = loop.getRegionIterArg(1), least = loop.getRegionIterArg(0);
    for (Value each : read) {
      ascend = both(ascend, compare(arith::CmpIPredicate::sle, least, each));
      least = each;
    }
    scf::YieldOp::create(builder, loc, ValueRange{least, ascend});
  }
  isGood = both(loop.getResult(1), compare(arith::CmpIPredicate::eq,
                                           loop.getResult(0), rows));
  Value behind =
      offsetAt(arith::MinUIOp::create(builder, loc, matrices, last));
  Value allExist =
      both(isGood, compare(arith::CmpIPredicate::eq, behind, rows));
  Value isBad = arith::XOrIOp::create(
      builder, loc, allExist,
      arith::ConstantIntOp::create(builder, loc, 1, 1));
  tile::FaultOp::create(builder, loc,
                        func.slot(kernel::FuncOp::kFaultSlot), isBad);
  // Without good offsets all rows are one segment, which has no matrix.
  segments = arith::SelectOp::create(builder, loc, isGood, last, i32(1));
}

/// At least as many as all segments have together: each but the first adds one
/// that is not whole, and no segment without rows has any.
Value TileProgram::mostBlocks() {
  Value parts = arith::MinUIOp::create(builder, loc, segments, rows);
  Value more = arith::MulIOp::create(builder, loc, parts,
                                     i32(schedule.getM() - 1));
  Value all = arith::DivUIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, rows, more),
      i32(schedule.getM()));
  return arith::MulIOp::create(builder, loc, all, colBlocks);
}

/// Blocks of a segment begin at its first row, and are numbered after those of
/// the segments before it. A program takes every `step`-th, from `first` on:
/// from one segment to the next goes how far behind its beginning that is.
void TileProgram::forEachSegment(Value first, Value step, Body body) {
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(builder, loc, x, y);
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(builder, loc, x, y);
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(builder, loc, condition, x, y);
  };
  Value bounds = narrow(func.slot(family.segments->boundDim));
  Value last = sub(bounds, i32(1));
  auto boundAt = [&](Value index) -> Value {
    return offsetAt(arith::MinUIOp::create(builder, loc, index, last));
  };
  // The end of the next segment is read before this one's is used.
  auto loop = scf::ForOp::create(builder, loc, i32(0), segments, i32(1),
                                 {first, i32(0), boundAt(i32(1))});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), next = loop.getRegionIterArg(0);
  start = loop.getRegionIterArg(1);
  Value bound = loop.getRegionIterArg(2);
  Value ahead = boundAt(add(number, i32(2)));
  end = choose(isGood, bound, rows);
  exists = arith::AndIOp::create(
      builder, loc, isGood,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number,
                            matrices));
  matrix = choose(exists, number, i32(0));
  Value height = arith::DivUIOp::create(
      builder, loc, add(sub(end, start), i32(schedule.getM() - 1)),
      i32(schedule.getM()));
  Value blocks = arith::MulIOp::create(builder, loc, height, colBlocks);
  auto own = scf::ForOp::create(builder, loc, next, blocks, step, {next});
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(own.getBody());
    Value index = own.getInductionVar();
    blockAt(index, height, [&](Value row, Value col) {
      body(add(start, row), col);
    });
    scf::YieldOp::create(builder, loc, add(index, step));
  }
  scf::YieldOp::create(builder, loc,
                       ValueRange{sub(own.getResult(0), blocks), bound, ahead});
}
