// TileElements.cpp - arithmetic on sums in registers, and how they leave
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileThreads.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

/// The region on each element of the thread.
LogicalResult TileThreads::map(tile::MapOp op) {
  Block &body = op.getBody().front();
  SmallVector<Value> results;
  size_t count = products->places().size();
  for (size_t i = 0; i < count; ++i) {
    IRMapping mapping;
    for (auto [argument, from] : llvm::zip(body.getArguments(), op.getValues()))
      if (auto load = from.getDefiningOp<tile::LoadOp>())
        mapping.map(argument, loadElement(load, i));
      else
        mapping.map(argument, values.find(from)->second[i]);
    for (Operation &each : body.without_terminator()) {
      if (auto fma = dyn_cast<kernel::FmaOp>(each))
        mapping.map(fma.getResult(),
                    LLVM::FMAOp::create(builder, loc,
                                        mapping.lookup(fma.getA()),
                                        mapping.lookup(fma.getB()),
                                        mapping.lookup(fma.getC())));
      else if (auto root = dyn_cast<kernel::SqrtOp>(each))
        mapping.map(
            root.getResult(),
            LLVM::SqrtOp::create(builder, loc, mapping.lookup(root.getA())));
      else if (isa<arith::ArithDialect>(each.getDialect()))
        builder.clone(each, mapping);
      else
        return each.emitOpError() << "has no form where consumers copy";
    }
    results.push_back(mapping.lookup(body.getTerminator()->getOperand(0)));
  }
  values[op.getResult()] = std::move(results);
  return success();
}

/// Where a lane has its first element of values that begin at (row, col): i64.
std::pair<Value, Value> TileThreads::originOf(tile::ValuesType type, Value row,
                                              Value col) {
  Emit emit{builder, loc};
  auto [laneRow, laneCol] = products->origin(emit, lane);
  int64_t waveCols = type.getCols() / (kConsumerThreads / machine.wave);
  Value left = emit.add(emit.mul(wave, waveCols), laneCol);
  return {emit.wide(emit.add(row, laneRow)), emit.wide(emit.add(col, left))};
}

/// An element of the thread, zero beyond the extents, once it is used: until
/// then the registers are those of sums.
Value TileThreads::loadElement(tile::LoadOp op, size_t i) {
  Emit emit{builder, loc};
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  WaveProducts::Place place = products->places()[i];
  auto [row, col] = originOf(op.getType(), op.getRow(), op.getCol());
  row = emit.add(row, place.row);
  col = emit.add(col, place.col);
  Value exists =
      LLVM::AndOp::create(builder, loc, emit.isLess(row, view.getRows()),
                          emit.isLess(col, view.getCols()));
  // The first element of a tensor always does.
  Value at = addressOf(view, emit.select(exists, row, emit.i64(0)),
                       emit.select(exists, col, emit.i64(0)));
  Type type = op.getType().getElementType();
  Value value = LLVM::LoadOp::create(builder, loc, type, at,
                                     type.getIntOrFloatBitWidth() / 8);
  return emit.select(exists, value, emit.zero(type));
}

/// From registers. Where the whole block exists, and where elements of a lane
/// that follow each other are aligned as one, nothing is asked again.
void TileThreads::put(tile::PutOp op) {
  Emit emit{builder, loc};
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  tile::ValuesType type = op.getValues().getType();
  int64_t run = products->run();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  auto [row, col] = originOf(type, op.getRow(), op.getCol());
  Value end = view.getRows();
  if (op.getEnd())
    end = LLVM::SMinOp::create(builder, loc, end, emit.wide(op.getEnd()));
  Value whole = LLVM::AndOp::create(
      builder, loc,
      emit.isLess(emit.wide(emit.add(op.getRow(), type.getRows() - 1)), end),
      emit.isLess(emit.wide(emit.add(op.getCol(), type.getCols() - 1)),
                  view.getCols()));
  if (run > 1) {
    Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                             view->getOperand(0));
    Value bits = LLVM::OrOp::create(builder, loc, address,
                                    emit.mul(view.getStride(), bytes));
    Value rest =
        LLVM::AndOp::create(builder, loc, bits, emit.i64(run * bytes - 1));
    whole = LLVM::AndOp::create(builder, loc, whole,
                                LLVM::ICmpOp::create(builder, loc,
                                                     LLVM::ICmpPredicate::eq,
                                                     rest, emit.i64(0)));
  }
  auto branch = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
  SmallVector<WaveProducts::Place> places = products->places();
  ArrayRef<Value> all = values.find(op.getValues())->second;
  for (bool isWhole : {true, false}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(isWhole ? branch.thenBlock()
                                             : branch.elseBlock());
    for (size_t i = 0; i < all.size(); i += run)
      store(op, all.slice(i, run), emit.add(row, places[i].row),
            emit.add(col, places[i].col), end, isWhole);
  }
}

void TileThreads::store(tile::PutOp op, ValueRange run, Value row, Value col,
                        Value end, bool isWhole) {
  Emit emit{builder, loc};
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  unsigned bytes =
      op.getValues().getType().getElementType().getIntOrFloatBitWidth() / 8;
  if (isWhole) {
    Value stored = run.front();
    if (run.size() > 1) {
      stored = LLVM::UndefOp::create(
          builder, loc,
          VectorType::get({int64_t(run.size())}, stored.getType()));
      for (auto [i, each] : llvm::enumerate(run))
        stored = LLVM::InsertElementOp::create(builder, loc, stored, each,
                                               emit.i32(i));
    }
    LLVM::StoreOp::create(builder, loc, stored, addressOf(view, row, col),
                          unsigned(run.size() * bytes));
    return;
  }
  for (auto [i, each] : llvm::enumerate(run)) {
    Value at = emit.add(col, int64_t(i));
    Value exists =
        LLVM::AndOp::create(builder, loc, emit.isLess(row, end),
                            emit.isLess(at, view.getCols()));
    auto guarded = scf::IfOp::create(builder, loc, exists);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    LLVM::StoreOp::create(builder, loc, each, addressOf(view, row, at), bytes);
  }
}
