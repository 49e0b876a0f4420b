// TileRoles.cpp - who copies blocks and who multiplies them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

void TileProgram::produce() {
  forEachBlock([&](Value row, Value col) {
    scf::ForOp stages = forEachStage(i32(0), {});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(stages.getBody());
    fetchStage(row, col, stages.getInductionVar());
    tile::CommitOp::create(builder, loc, pipe);
  });
}

/// Begins to copy what is in the next stage.
void TileProgram::fetchStage(Value row, Value col, Value stage) {
  Value depth =
      arith::MulIOp::create(builder, loc, stage, i32(schedule.getK()));
  auto blocks =
      tile::AcquireOp::create(builder, loc, TypeRange{blockA, blockB}, pipe);
  UnitAttr negative =
      family.absent == Absent::Negative ? builder.getUnitAttr() : UnitAttr();
  tile::FetchOp::create(builder, loc, a, row, depth, blocks.getResult(0),
                        negative);
  tile::FetchOp::create(builder, loc, b, col, depth, blocks.getResult(1),
                        UnitAttr());
}

tile::WaitOp TileProgram::waitForStage(int64_t ahead) {
  return tile::WaitOp::create(builder, loc, TypeRange{blockA, blockB}, pipe,
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

Value TileProgram::dot(Value number, tile::WaitOp stage, Value sums,
                       Value columns) {
  auto own =
      tile::BlockType::get(builder.getContext(), schedule.rowsPerConsumer(),
                           schedule.getK(), blockA.getElementType());
  Value rows =
      tile::RowsOp::create(builder, loc, own, stage.getResult(0), number);
  return tile::DotOp::create(builder, loc, sumsType(), rows, stage.getResult(1),
                             sums, columns, stepOf(contract, family.dot));
}

/// A stage is free once the products after it have begun: those then keep the
/// unit busy while the producer refills.
void TileProgram::consume(Value number) {
  forEachBlock([&](Value row, Value col) {
    // The first stage begins the sums.
    Value first = dot(number, waitForStage(), Value(), columnsOf(i32(0)));
    scf::ForOp stages = forEachStage(i32(1), first);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      Value next = dot(number, waitForStage(), stages.getRegionIterArg(0),
                       columnsOf(stages.getInductionVar()));
      Value settled = tile::SettleOp::create(builder, loc, next.getType(), next,
                                             /*behind=*/1);
      tile::ReleaseOp::create(builder, loc, pipe);
      scf::YieldOp::create(builder, loc, settled);
    }
    Value above = ownRow(number, row);
    // Before the sums are complete, so that both are awaited at one time.
    SmallVector<Value> loaded = loadOthers(above, col);
    Value sums = tile::AwaitOp::create(builder, loc,
                                       valuesOf(sumsType().getElementType()),
                                       stages.getResult(0));
    tile::ReleaseOp::create(builder, loc, pipe);
    tile::PutOp::create(builder, loc, epilogue(sums, loaded), result, above,
                        col);
  });
}

/// All stages of the pipe but one are on their way before the first is
/// multiplied. Then each stage that has been multiplied makes place for the
/// next, until there is none.
void TileProgram::copyAndConsume(Value number) {
  int64_t most = schedule.getStages() - 1;
  forEachBlock([&](Value row, Value col) {
    auto loop = [&](Value first, Value end, ValueRange carried,
                    llvm::function_ref<Value(Value, Value)> body) -> Value {
      auto stages =
          scf::ForOp::create(builder, loc, first, end, i32(1), carried);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(stages.getBody());
      Value sums = body(stages.getInductionVar(),
                        carried.empty() ? Value() : stages.getRegionIterArg(0));
      if (carried.empty())
        return {};
      scf::YieldOp::create(builder, loc, sums);
      return stages.getResult(0);
    };
    auto multiply = [&](tile::WaitOp stage, Value sums, Value columns) {
      Value next = dot(number, stage, sums, columns);
      return tile::SettleOp::create(builder, loc, next.getType(), next,
                                    /*behind=*/0)
          .getResult();
    };
    Value early = arith::MinUIOp::create(builder, loc, depthBlocks, i32(most));
    loop(i32(0), early, {}, [&](Value stage, Value) {
      fetchStage(row, col, stage);
      tile::CommitOp::create(builder, loc, pipe);
      return Value();
    });
    Value sums = tile::StartOp::create(builder, loc, sumsType());
    // What lies in registers on its way is committed once the products, which
    // take as long as it does, have begun.
    bool late = schedule.getCopy() == "registers";
    sums = loop(early, depthBlocks, sums, [&](Value stage, Value sums) {
      tile::WaitOp ready = waitForStage(/*ahead=*/most - 1);
      fetchStage(row, col, stage);
      if (!late)
        tile::CommitOp::create(builder, loc, pipe);
      sums = multiply(ready, sums, Value());
      if (late)
        tile::CommitOp::create(builder, loc, pipe);
      tile::ReleaseOp::create(builder, loc, pipe);
      return sums;
    });
    Value last = arith::SubIOp::create(builder, loc, depthBlocks, early);
    sums = loop(last, depthBlocks, sums, [&](Value stage, Value sums) {
      sums = multiply(waitForStage(), sums, columnsOf(stage));
      tile::ReleaseOp::create(builder, loc, pipe);
      return sums;
    });
    SmallVector<Value> loaded = loadOthers(ownRow(number, row), col);
    Value complete = tile::AwaitOp::create(
        builder, loc, valuesOf(sumsType().getElementType()), sums);
    tile::PutOp::create(builder, loc, epilogue(complete, loaded), result,
                        ownRow(number, row), col);
  });
}

/// The first row that a consumer has of a block.
Value TileProgram::ownRow(Value number, Value row) {
  Value above = arith::MulIOp::create(builder, loc, number,
                                      i32(schedule.rowsPerConsumer()));
  return arith::AddIOp::create(builder, loc, row, above);
}
