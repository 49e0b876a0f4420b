// TileStages.cpp - pipes and products of kernels whose consumers copy
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileThreads.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

int64_t TileThreads::bytesOf(tile::BlockType block) {
  return block.getRows() * block.getCols() *
         block.getElementType().getIntOrFloatBitWidth() / 8;
}

int64_t TileThreads::rowBytesOf(tile::BlockType block) {
  return bytesOf(block) / block.getRows();
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// A cell that holds a stage; LLVM makes a register of it.
Value TileThreads::makeCursor() {
  Emit emit{builder, loc};
  Value at = LLVM::AllocaOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), machine.privateSpace),
      builder.getI32Type(), emit.i32(1));
  LLVM::StoreOp::create(builder, loc, emit.i32(0), at);
  return at;
}

Value TileThreads::stageOf(Value cursor) {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), cursor);
}

void TileThreads::advance(Value cursor, tile::PipeOp pipe) {
  Emit emit{builder, loc};
  Value next = emit.add(stageOf(cursor), 1);
  Value round =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, next,
                           emit.i32(pipe.getType().getStages()));
  LLVM::StoreOp::create(builder, loc, emit.select(round, emit.i32(0), next),
                        cursor);
}

void TileThreads::blocksAt(tile::PipeOp pipe, Value cursor,
                           ResultRange blocks) {
  Emit emit{builder, loc};
  Value stage = stageOf(cursor);
  int64_t first = firstBytes.lookup(pipe);
  for (Value block : blocks) {
    int64_t bytes = bytesOf(cast<tile::BlockType>(block.getType()));
    offsets[block] = emit.add(emit.mul(stage, bytes), first);
    first += pipe.getType().getStages() * bytes;
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A wave takes its columns of the result: rows of the second block.
void TileThreads::dot(tile::DotOp op) {
  Emit emit{builder, loc};
  tile::BlockType left = op.getA().getType(), right = op.getB().getType();
  int64_t waves = kConsumerThreads / machine.wave;
  Value ownCols = emit.mul(wave, bytesOf(right) / waves);
  SharedBlock a{base, offsets.lookup(op.getA()), rowBytesOf(left)};
  SharedBlock b{base, emit.add(offsets.lookup(op.getB()), ownCols),
                rowBytesOf(right)};
  auto before = op.getODSOperands(2), count = op.getODSOperands(3);
  Value sums = before.empty() ? products->start(emit) : *before.begin();
  int64_t each = products->pieces(), all = a.pieces();
  if (products->unrolls() && count.empty()) {
    for (int64_t piece = 0; piece < all; piece += each)
      sums = products->multiply(emit, sums, a, b, lane, emit.i32(piece));
    op.getResult().replaceAllUsesWith(sums);
    return;
  }
  Value end = emit.i32(all);
  if (!count.empty()) {
    // A slice is one step here, and those that have no column are left out.
    int64_t cols = left.getCols() / all;
    end = LLVM::UDivOp::create(builder, loc, emit.add(*count.begin(), cols - 1),
                               emit.i32(cols));
  }
  auto loop = scf::ForOp::create(builder, loc, emit.i32(0), end, emit.i32(each),
                                 ValueRange{sums});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value next = products->multiply(emit, loop.getRegionIterArg(0), a, b, lane,
                                    loop.getInductionVar());
    scf::YieldOp::create(builder, loc, next);
  }
  op.getResult().replaceAllUsesWith(loop.getResult(0));
}

/// NaN where there is nothing that was multiplied.
void TileThreads::await(tile::AwaitOp op) {
  Emit emit{builder, loc};
  SmallVector<Value> &all = values[op.getResult()];
  all = products->elements(emit, op->getOperand(0));
  if (!op.getExists())
    return;
  auto element = cast<FloatType>(op.getResult().getType().getElementType());
  Value none = LLVM::ConstantOp::create(
      builder, loc, element,
      builder.getFloatAttr(element,
                           APFloat::getQNaN(element.getFloatSemantics())));
  for (Value &each : all)
    each = emit.select(op.getExists(), each, none);
}
