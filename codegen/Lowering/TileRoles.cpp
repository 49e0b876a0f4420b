// TileRoles.cpp - who copies blocks and who multiplies them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileBoxes.h"
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

void TileProgram::produce() {
  bool alone = schedule.copiesInBulk() && schedule.getCluster() == 1;
  if (alone)
    countRows();
  fetchEarly();
  forEachBlock([&](Value row, Value col) {
    if (alone)
      countBoxes(row);
    Value fetched = fetchedBefore(row, col);
    // Chains that follow each other along the dim are one loop.
    for (size_t i = 0, next; i < chains.size(); i = next) {
      for (next = i + 1; next < chains.size() &&
                         chains[next - 1]->end == chains[next]->first;)
        ++next;
      scf::ForOp stages =
          forEachStage(stagesOf(*chains[i]).first,
                       stagesOf(*chains[next - 1]).end, {});
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      // No other run of chains has stages that were fetched early.
      fetchStage(row, col, stages.getInductionVar(), i ? Value() : fetched);
      commit(stageBytes);
    }
  });
}

/// Results wait in the cache of the device to be written. As long as it keeps them
/// and lets weights go, the next launch has to write them while it reads its own. On
/// an H200 64 rows of 151936 columns, 19 MB, took 305 us with weights the first to
/// leave and 295 without; 64 rows of 4096 columns 10.7 and 11.0.
static constexpr int64_t kFewResults = 8 << 20;

/// Whether one block has all rows there are, and rows of a box.
void TileProgram::countRows() {
  Value rows = func.slot(family.rowDim);
  Value all = narrow(rows), most = i32(schedule.getM());
  int64_t bytes =
      typeOf(family.output.getTensor()).getIntOrFloatBitWidth() / 8;
  hasFewResults = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule,
      arith::MulIOp::create(builder, loc, rows, func.slot(family.colDim)),
      arith::ConstantIntOp::create(builder, loc, kFewResults / bytes, 64));
  isOneRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, all,
                                   most);
  once = arith::AndIOp::create(builder, loc, hasFewResults, isOneRow);
  boxRows = arith::MinUIOp::create(
      builder, loc, all, i32(boxRowsOf(schedule, bool(family.segments))));
}

/// Rows that do not exist take the copy unit longer than those that do. So a box
/// has no more rows than the matrix, and few of a segment; of a block those boxes are
/// copied in which a row exists. The others are made of whatever lay there, as is
/// what follows from them: row i of a product depends on row i of the first operand
/// alone, and such a row is not put.
void TileProgram::countBoxes(Value row) {
  Value all = narrow(func.slot(family.rowDim)), most = i32(schedule.getM());
  // Of a segment those that follow it are left out too.
  Value last = family.segments ? end : all;
  if (family.segments)
    once = arith::AndIOp::create(
        builder, loc, hasFewResults,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                              arith::SubIOp::create(builder, loc, end, start),
                              most));
  Value exist = arith::MinUIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, last, row), most);
  // A box has fewer rows only where it has all that the matrix has.
  int64_t full = boxRowsOf(schedule, bool(family.segments));
  Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       boxRows, i32(full));
  Value ofFull = arith::DivUIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, exist, i32(full - 1)),
      i32(full));
  boxes = arith::SelectOp::create(builder, loc, isFull, ofFull, i32(1));
  auto rowBytes = [&](tile::BlockType block) {
    return block.getCols() * block.getElementType().getIntOrFloatBitWidth() / 8;
  };
  Value rows = arith::MulIOp::create(builder, loc, boxes, boxRows);
  int64_t others = 0;
  for (tile::BlockType block : blockB)
    others += block.getRows() * rowBytes(block);
  stageBytes = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, rows, i32(rowBytes(blockA))),
      i32(others));
}

void TileProgram::commit(Value bytes) {
  tile::CommitOp::create(builder, loc, pipe, bytes);
}

/// Begins to copy what is in the next stage: of stages before `fetched` the
/// first operand.
void TileProgram::fetchStage(Value row, Value col, Value stage, Value fetched) {
  Value depth =
      arith::MulIOp::create(builder, loc, stage, i32(schedule.getK()));
  auto stored = tile::AcquireOp::create(builder, loc, blocks, pipe);
  UnitAttr negative =
      family.absent == Absent::Negative ? builder.getUnitAttr() : UnitAttr();
  tile::FetchOp::create(builder, loc, a, row, depth, stored.getResult(0), boxes,
                        boxRows, /*once=*/Value(), /*unless=*/Value(),
                        /*matrix=*/Value(), negative);
  Value unless;
  if (fetched)
    unless = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                   stage, fetched);
  fetchSecond(stored.getResults(), col, depth, unless);
}

tile::WaitOp TileProgram::waitForStage(int64_t ahead) {
  return tile::WaitOp::create(builder, loc, blocks, pipe,
                              ahead ? builder.getI64IntegerAttr(ahead)
                                    : IntegerAttr());
}

/// Columns of a stage that are there, if products must know.
Value TileProgram::columnsOf(Value stage) {
  if (family.absent != Absent::LeftOut)
    return {};
  Value before =
      arith::MulIOp::create(builder, loc, stage, i32(schedule.getK()));
  Value left = arith::SubIOp::create(
      builder, loc, narrow(func.slot(family.depthDim)), before);
  return arith::MinUIOp::create(builder, loc, left, i32(schedule.getK()));
}

SmallVector<Value> TileProgram::dot(Value number, tile::WaitOp stage,
                                    ValueRange sums, Value columns) {
  auto own =
      tile::BlockType::get(builder.getContext(), schedule.rowsPerConsumer(),
                           schedule.getK(), blockA.getElementType());
  Value rows =
      tile::RowsOp::create(builder, loc, own, stage.getResult(0), number);
  SmallVector<Value> next;
  for (auto [i, each] : llvm::enumerate(family.dots))
    next.push_back(tile::DotOp::create(
        builder, loc, sumsType(), rows, stage.getResult(1 + unsigned(i)),
        sums.empty() ? Value() : sums[i], columns, stepOf(contract, each)));
  return next;
}

/// Once the products of all stages but the last few have read their blocks.
SmallVector<Value> TileProgram::settle(ValueRange sums, int64_t stages) {
  SmallVector<Value> settled;
  for (Value each : sums)
    settled.push_back(
        tile::SettleOp::create(builder, loc, each.getType(), each,
                               stages * int64_t(family.dots.size())));
  return settled;
}

/// A stage is free once the products after it have begun: those then keep the
/// unit busy while the producer refills.
void TileProgram::consume(Value number) {
  forEachBlock([&](Value row, Value col) {
    Value above = ownRow(number, row), left = ownCol(col);
    SmallVector<Value> loaded;
    SmallVector<Value> sums = sumsOfParts([&](Stages part) {
      // The first stage begins the sums.
      SmallVector<Value> first =
          dot(number, waitForStage(), {}, columnsOf(part.first));
      Value second = arith::AddIOp::create(builder, loc, part.first, i32(1));
      scf::ForOp stages = forEachStage(second, part.end, first);
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(stages.getBody());
        SmallVector<Value> next =
            dot(number, waitForStage(), stages.getRegionIterArgs(),
                columnsOf(stages.getInductionVar()));
        SmallVector<Value> settled = settle(next, /*stages=*/1);
        tile::ReleaseOp::create(builder, loc, pipe);
        scf::YieldOp::create(builder, loc, settled);
      }
      // Before the sums are complete, so that both are awaited at one time.
      if (part.isLast)
        loaded = loadOthers(above, left);
      SmallVector<Value> complete = await(stages.getResults());
      tile::ReleaseOp::create(builder, loc, pipe);
      return complete;
    }, above);
    tile::PutOp::create(builder, loc, epilogue(sums, loaded), result, above,
                        left, end);
  });
}

/// All stages of the pipe but one are on their way before the first is
/// multiplied. Then each stage that has been multiplied makes place for the
/// next, until there is none.
void TileProgram::copyAndConsume(Value number) {
  using Sums = SmallVector<Value>;
  int64_t most = schedule.getStages() - 1;
  forEachBlock([&](Value row, Value col) {
    auto loop = [&](Value first, Value end, ValueRange carried,
                    llvm::function_ref<Sums(Value, ValueRange)> body) -> Sums {
      auto stages =
          scf::ForOp::create(builder, loc, first, end, i32(1), carried);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      Sums sums = body(stages.getInductionVar(), stages.getRegionIterArgs());
      if (!carried.empty())
        scf::YieldOp::create(builder, loc, sums);
      return Sums(stages.getResults());
    };
    auto multiply = [&](tile::WaitOp stage, ValueRange sums, Value columns) {
      return settle(dot(number, stage, sums, columns), /*stages=*/0);
    };
    Value early = arith::MinUIOp::create(builder, loc, depthBlocks, i32(most));
    loop(i32(0), early, {}, [&](Value stage, ValueRange) {
      fetchStage(row, col, stage);
      commit();
      return Sums();
    });
    // What lies in registers on its way is committed once the products, which
    // take as long as it does, have begun.
    bool late = schedule.getCopy() == "registers";
    Value last = arith::SubIOp::create(builder, loc, depthBlocks, early);
    SmallVector<Value> loaded;
    Sums complete = sumsOfParts([&](Stages part) {
      // Stages are copied `early` before they are multiplied, also those of the
      // next part.
      Value begin = arith::AddIOp::create(builder, loc, part.first, early),
            end = depthBlocks, tail = last;
      if (!part.isLast)
        end = arith::MinUIOp::create(
            builder, loc, arith::AddIOp::create(builder, loc, part.end, early),
            depthBlocks);
      if (!part.isFirst)
        tail = arith::MaxUIOp::create(builder, loc, part.first, last);
      Sums sums;
      for (size_t i = 0; i < family.dots.size(); ++i)
        sums.push_back(tile::StartOp::create(builder, loc, sumsType()));
      sums = loop(begin, end, sums, [&](Value stage, ValueRange carried) {
        tile::WaitOp ready = waitForStage(/*ahead=*/most - 1);
        fetchStage(row, col, stage);
        if (!late)
          commit();
        Sums next = multiply(ready, carried, Value());
        if (late)
          commit();
        tile::ReleaseOp::create(builder, loc, pipe);
        return next;
      });
      sums = loop(tail, part.end, sums, [&](Value stage, ValueRange carried) {
        Sums next = multiply(waitForStage(), carried, columnsOf(stage));
        tile::ReleaseOp::create(builder, loc, pipe);
        return next;
      });
      if (part.isLast)
        loaded = loadOthers(ownRow(number, row), col);
      return await(sums);
    });
    tile::PutOp::create(builder, loc, epilogue(complete, loaded), result,
                        ownRow(number, row), col, end);
  });
}

/// The first row that a consumer has of a block.
Value TileProgram::ownRow(Value number, Value row) {
  Value above = arith::MulIOp::create(builder, loc, number,
                                      i32(schedule.rowsPerConsumer()));
  return arith::AddIOp::create(builder, loc, row, above);
}
