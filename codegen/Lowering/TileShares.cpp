// TileShares.cpp - each thread's share of the copies of a block
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileThreads.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

static unsigned bitsOf(tile::FetchOp op) {
  return op.getView().getType().getElementType().getIntOrFloatBitWidth();
}

/// LLVM leaves the loop as it is.
static void keepLoop(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true),
                                          {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}));
}

/// Threads take pieces in turn, so that neighbours read what lies side by side.
/// Where rows are aligned and the block's columns all exist, a piece is one
/// load; otherwise its elements are read one by one.
void TileThreads::fetch(tile::FetchOp op) {
  Emit emit{builder, loc};
  tile::BlockType block = op.getBlock().getType();
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  int64_t rowBytes = block.getCols() * bitsOf(op) / 8;
  SharedBlock to{base, offsets.lookup(op.getBlock()), rowBytes};
  int64_t pieces = to.pieces(),
          threads = schedule.getConsumers() * kConsumerThreads;
  Value column = emit.modulo(thread, pieces),
        row = emit.shr(thread, llvm::Log2_64(pieces));
  int64_t round = threads / pieces; // rows that all threads copy at a time
  Value first =
      emit.add(op.getCol(), emit.mul(column, 8 * kPieceBytes / bitsOf(op)));
  Value whole = LLVM::AndOp::create(
      builder, loc, hasAlignedRows(view),
      emit.isLess(emit.wide(emit.add(op.getCol(), block.getCols() - 1)),
                  view.getCols()));
  bool async = schedule.getCopy() == "async";
  int64_t count = block.getRows() / round;
  auto piece = VectorType::get({kPieceBytes / 4}, builder.getI32Type());
  auto branch = scf::IfOp::create(
      builder, loc, SmallVector<Type>(async ? 0 : count, piece), whole,
      /*withElseRegion=*/true);
  auto side = [&](Block *body, bool isWhole) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(body);
    if (async && !isWhole) {
      // The rare side, which need not be fast.
      auto loop = scf::ForOp::create(builder, loc, emit.i32(0), emit.i32(count),
                                     emit.i32(1));
      builder.setInsertionPointToStart(loop.getBody());
      Value own = emit.add(row, emit.mul(loop.getInductionVar(), round));
      Value loaded = pieceOfElements(op, emit.add(op.getRow(), own), first);
      LLVM::StoreOp::create(builder, loc, loaded, to.at(emit, own, 0, column),
                            unsigned(kPieceBytes));
      return;
    }
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < count; ++i) {
      Value from = emit.add(op.getRow(), emit.add(row, i * round));
      if (!async) {
        loaded.push_back(isWhole ? wholePiece(op, from, first)
                                 : pieceOfElements(op, from, first));
        continue;
      }
      Value wide = emit.wide(from);
      Value exists = emit.isLess(wide, view.getRows());
      Value last = emit.add(view.getRows(), -1);
      copyPiece(
          to.at(emit, row, i * round, column),
          addressOf(view, emit.select(exists, wide, last), emit.wide(first),
                    op.getMatrix()),
          exists);
    }
    if (!async)
      scf::YieldOp::create(builder, loc, loaded);
  };
  side(branch.thenBlock(), true);
  side(branch.elseBlock(), false);
  if (!async)
    for (int64_t i = 0; i < count; ++i)
      held.push_back(
          {to.at(emit, row, i * round, column), branch.getResult(i)});
}

void TileThreads::commit(tile::CommitOp op) {
  for (auto [to, piece] : held)
    LLVM::StoreOp::create(builder, loc, piece, to, unsigned(kPieceBytes));
  held.clear();
  if (schedule.getCopy() == "async")
    commitCopies();
  auto pipe = op.getPipe().getDefiningOp<tile::PipeOp>();
  advance(produced[pipe], pipe);
}

/// Whether all rows begin at multiples of a piece.
Value TileThreads::hasAlignedRows(tile::ViewOp view) {
  Emit emit{builder, loc};
  int64_t bytes = view.getType().getElementType().getIntOrFloatBitWidth() / 8;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           view->getOperand(0));
  Value bits = LLVM::OrOp::create(builder, loc, address,
                                  emit.mul(view.getStride(), bytes));
  if (view.getApart())
    bits = LLVM::OrOp::create(builder, loc, bits,
                              emit.mul(view.getApart(), bytes));
  Value rest =
      LLVM::AndOp::create(builder, loc, bits, emit.i64(kPieceBytes - 1));
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, rest,
                              emit.i64(0));
}

/// Of an element at (row, col): i64, of a matrix: i32.
Value TileThreads::addressOf(tile::ViewOp view, Value row, Value col,
                             Value matrix) {
  Emit emit{builder, loc};
  Value buffer = view->getOperand(0);
  Value at = view.getAlong() == "rows" ? row : col;
  if (view.getStride())
    at =
        emit.add(LLVM::MulOp::create(builder, loc, row, view.getStride()), col);
  if (matrix)
    at = emit.add(at, LLVM::MulOp::create(builder, loc, emit.wide(matrix),
                                          view.getApart()));
  return LLVM::GEPOp::create(
      builder, loc, buffer.getType(),
      builder.getIntegerType(
          view.getType().getElementType().getIntOrFloatBitWidth()),
      buffer, ValueRange{at});
}

/// Zero, of which the kernel may want the negative one.
Value TileThreads::absentElement(tile::FetchOp op) {
  Type type = builder.getIntegerType(bitsOf(op));
  APInt bits(bitsOf(op), 0);
  if (op.getNegative())
    bits.setSignBit();
  return LLVM::ConstantOp::create(builder, loc, type,
                                  builder.getIntegerAttr(type, bits));
}

/// One load, from the last row where there is none.
Value TileThreads::wholePiece(tile::FetchOp op, Value row, Value first) {
  Emit emit{builder, loc};
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  auto words = VectorType::get({kPieceBytes / 4}, builder.getI32Type());
  Value wide = emit.wide(row);
  Value exists = emit.isLess(wide, view.getRows());
  Value from =
      addressOf(view, emit.select(exists, wide, emit.add(view.getRows(), -1)),
                emit.wide(first), op.getMatrix());
  Value loaded =
      LLVM::LoadOp::create(builder, loc, words, from, unsigned(kPieceBytes));
  Value zero = absentElement(op);
  Value none = LLVM::UndefOp::create(
      builder, loc,
      VectorType::get({8 * kPieceBytes / bitsOf(op)}, zero.getType()));
  for (int64_t i = 0; i < int64_t(8 * kPieceBytes / bitsOf(op)); ++i)
    none = LLVM::InsertElementOp::create(builder, loc, none, zero, emit.i32(i));
  return emit.select(exists, loaded, emit.bitcast(words, none));
}

/// A loop over the elements, which come in at the end of the piece and leave
/// their places to the next: code of a side that is rarely taken stays small.
Value TileThreads::pieceOfElements(tile::FetchOp op, Value row, Value first) {
  Emit emit{builder, loc};
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Value zero = absentElement(op);
  unsigned bits = bitsOf(op);
  auto words = VectorType::get({kPieceBytes / 4}, builder.getI32Type());
  Type whole = builder.getIntegerType(8 * kPieceBytes);
  Value wideRow = emit.wide(row), wideCol = emit.wide(first);
  Value exists = emit.isLess(wideRow, view.getRows());
  auto loop = scf::ForOp::create(builder, loc, emit.i32(0),
                                 emit.i32(8 * kPieceBytes / bits), emit.i32(1),
                                 ValueRange{emit.zero(whole)});
  keepLoop(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value col = emit.add(wideCol, emit.wide(loop.getInductionVar()));
  Value there = LLVM::AndOp::create(builder, loc, exists,
                                    emit.isLess(col, view.getCols()));
  // The first element of a tensor always exists.
  Value from = addressOf(view, emit.select(there, wideRow, emit.i64(0)),
                         emit.select(there, col, emit.i64(0)), op.getMatrix());
  Value element =
      LLVM::LoadOp::create(builder, loc, zero.getType(), from, bits / 8);
  auto constant = [&](int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, whole,
                                    builder.getIntegerAttr(whole, value));
  };
  Value last = LLVM::ShlOp::create(
      builder, loc,
      LLVM::ZExtOp::create(builder, loc, whole,
                           emit.select(there, element, zero)),
      constant(8 * kPieceBytes - bits));
  Value next = LLVM::OrOp::create(builder, loc,
                                  LLVM::LShrOp::create(builder, loc,
                                                       loop.getRegionIterArg(0),
                                                       constant(bits)),
                                  last);
  scf::YieldOp::create(builder, loc, next);
  builder.setInsertionPointAfter(loop);
  return emit.bitcast(words, loop.getResult(0));
}
