// TileEarly.cpp - stages that are begun while a launch waits
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileEarly.h"
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// The second operands of the first stages of a program's first block, as many
/// as the pipe holds, if nothing that may still run writes them. What precedes
/// the launch has not ended, and the first operand is what it made. A launch of more
/// rows of blocks begins when all has ended (docs/packages.md), and would only have
/// its first stage later.
void TileProgram::fetchEarly() {
  if (steadyTensors(family, schedule).empty())
    return;
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  Value steady;
  for (const std::string &tensor : family.b) {
    Value is = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        func.slot((tensor + tile::kSteadySlot).str()), zero);
    steady = steady ? arith::AndIOp::create(builder, loc, steady, is) : is;
  }
  Value program = tile::ProgramOp::create(builder, loc, builder.getI32Type());
  Value all = arith::MulIOp::create(builder, loc, rowBlocks, colBlocks);
  steady = arith::AndIOp::create(builder, loc, steady, isOneRow);
  steady = arith::AndIOp::create(
      builder, loc, steady,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, program,
                            all));
  Stages chain = stagesOf(*chains.front());
  Value most = arith::MinUIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, chain.end, chain.first),
      i32(schedule.getStages()));
  early.stages = arith::SelectOp::create(builder, loc, steady, most, i32(0));
  // A program without a block has that of another, and no stages of it.
  Value last = arith::SubIOp::create(builder, loc, all, i32(1));
  Value index = arith::MinUIOp::create(builder, loc, program, last);
  blockAt(index, rowBlocks, [&](Value row, Value col) {
    early.row = row;
    early.col = col;
    scf::ForOp loop = forEachStage(i32(0), early.stages, {});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    auto stored = tile::EarlyOp::create(builder, loc, blocks, pipe, number);
    Value stage = arith::AddIOp::create(builder, loc, chain.first, number);
    fetchSecond(
        stored.getResults(), col,
        arith::MulIOp::create(builder, loc, stage, i32(schedule.getK())),
        /*unless=*/Value());
    builder.setInsertionPointAfter(loop);
    prefetchBehind(arith::AddIOp::create(builder, loc, chain.first,
                                         early.stages),
                   steady);
  });
  tile::ReadyOp::create(builder, loc);
}

/// What the copy unit still has under way when it has filled the pipe takes it
/// about as long as the launch waits. So memory would idle before this one is read;
/// more than this much for a program, and the first operand would queue behind it:
/// on an H200 64 KB won at most 0.2 us more and lost up to 0.7, and 128 KB lost up
/// to 1.6 (docs/results/2026-11-30-few-rows.md).
static constexpr int64_t kBehindBytes = 32 * 1024, kCacheLine = 128;

/// Asks for second operands of stages from that one on, which the pipe has no
/// place for yet. Where the first operand has more than half as many rows it is
/// what a launch waits for, and would come later: 64 rows of 4096 columns took
/// 11.3 us so and 10.6 without, 64 rows of 24576 columns 49.4 and 49.8.
void TileProgram::prefetchBehind(Value stage, Value steady) {
  int64_t bytes = blockB.front().getElementType().getIntOrFloatBitWidth() / 8,
          columns = schedule.getN() * int64_t(b.size()),
          rowBytes = kBehindBytes / columns / kCacheLine * kCacheLine;
  if (rowBytes == 0)
    return;
  Value isSmall = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule,
      narrow(func.slot(family.rowDim)), i32(columns / 2));
  Value depth =
      arith::MulIOp::create(builder, loc, stage, i32(schedule.getK()));
  Value rows = arith::SelectOp::create(
      builder, loc, arith::AndIOp::create(builder, loc, steady, isSmall),
      i32(schedule.getN()), i32(0));
  for (Value view : b)
    tile::PrefetchOp::create(builder, loc, view, early.col, depth, rows,
                             rowBytes / bytes);
}

/// Blocks of the second operands, from that depth on.
void TileProgram::fetchSecond(ResultRange stored, Value col, Value depth,
                              Value unless) {
  for (auto [view, block] : llvm::zip(b, stored.drop_front()))
    tile::FetchOp::create(builder, loc, view, col, depth, block,
                          /*boxes=*/Value(), /*boxRows=*/Value(), once,
                          unless, matrix, /*negative=*/UnitAttr());
}

/// Before which stage of a block its second operands have been fetched. Blocks
/// of a program are distinct, so that the first is known by where it lies.
Value TileProgram::fetchedBefore(Value row, Value col) {
  if (!early.stages)
    return {};
  auto same = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x, y);
  };
  Value isFirst = arith::AndIOp::create(builder, loc, same(row, early.row),
                                        same(col, early.col));
  Value end = arith::AddIOp::create(
      builder, loc, stagesOf(*chains.front()).first, early.stages);
  return arith::SelectOp::create(builder, loc, isFirst, end, i32(0));
}
