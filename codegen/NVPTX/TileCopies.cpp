// TileCopies.cpp - how blocks come into shared memory on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

void TileKernel::fetch(tile::FetchOp op) {
  auto copy = [&] {
    if (schedule.copiesInBulk())
      fetchInBulk(op);
    else
      fetchPlain(op);
  };
  if (!op.getUnless())
    return copy();
  Value one = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(),
                                       builder.getBoolAttr(true));
  guarded(LLVM::XOrOp::create(builder, loc, op.getUnless(), one), copy);
}

/// Of what a cluster shares each CTA brings its part to all, at the same place
/// and with the same barrier of each.
void TileKernel::fetchInBulk(tile::FetchOp op) {
  const TileLayout::Place &place = layout.placeOf(op.getBlock());
  Value row = op.getRow(), to = offsets.lookup(op.getBlock()), all;
  if (op.getBoxes()) {
    auto loop =
        scf::ForOp::create(builder, loc, i32(0), op.getBoxes(), i32(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value above = LLVM::MulOp::create(builder, loc, loop.getInductionVar(),
                                      op.getBoxRows());
    copyBox(op, add(row, above), add(to, mul(above, kSwizzledRow)), Value());
    return;
  }
  int64_t rows = place.rows;
  if (place.isShared) {
    rows /= schedule.getCluster();
    to = add(to, mul(rank, rows * kSwizzledRow));
    all = LLVM::ConstantOp::create(
        builder, loc, builder.getI16Type(),
        builder.getI16IntegerAttr((1 << schedule.getCluster()) - 1));
  }
  if (isCluster())
    row = add(row, mul(rank, rows));
  copyBox(op, row, to, all);
}

/// Rows from `row` on to that offset. What is read once is the first to leave the
/// cache of the device. What is read again is copied without a policy: with one,
/// also the normal one, an H200 took up to half as long again.
void TileKernel::copyBox(tile::FetchOp op, Value row, Value to, Value every) {
  if (!op.getOnce())
    return copyPanels(op, row, to, every, Value());
  auto branch = scf::IfOp::create(builder, loc, op.getOnce(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value policy =
      LLVM::InlineAsmOp::create(
          builder, loc, TypeRange{builder.getI64Type()}, ValueRange(),
          "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l",
          /*has_side_effects=*/false, /*is_align_stack=*/false,
          LLVM::tailcallkind::TailCallKind::None,
          LLVM::AsmDialectAttr::get(builder.getContext(),
                                    LLVM::AsmDialect::AD_ATT),
          ArrayAttr())
          .getResult(0);
  copyPanels(op, row, to, every, policy);
  builder.setInsertionPointToStart(branch.elseBlock());
  copyPanels(op, row, to, every, Value());
}

/// Elements beyond the extents arrive as zero, and count as bytes.
void TileKernel::copyPanels(tile::FetchOp op, Value row, Value to, Value every,
                            Value policy) {
  const TileLayout::Place &place = layout.placeOf(op.getBlock());
  Operation *stage = op.getBlock().getDefiningOp();
  Value pipe = stage->getOperand(0);
  auto early = dyn_cast<tile::EarlyOp>(stage);
  Value barrier =
      barrierAt(pipe, early ? Value(early.getNumber()) : stageOf(produced[pipe]),
                /*empty=*/false);
  TensorMap map = layout.mapOf(func, op);
  for (int64_t panel = 0; panel < place.panels; ++panel) {
    Value at = panel ? add(to, i32(panel * place.panelStep)) : to;
    Value col = panel ? add(op.getCol(), i32(panel * map.cols)) : op.getCol();
    SmallVector<Value> coordinates = {col, row};
    if (op.getMatrix())
      coordinates.push_back(op.getMatrix());
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, toCluster(shared(at)), mapArgument(map),
        coordinates, barrier, ValueRange(), every, policy,
        NVVM::TMALoadModeAttr::get(builder.getContext(),
                                   NVVM::TMALoadMode::TILE),
        builder.getBoolAttr(false), NVVM::CTAGroupKindAttr(), Value());
  }
}

/// A row at a time. Rows are aligned as the copy unit wants them; of the last
/// columns, those that fill no unit of its addresses are left out.
void TileKernel::prefetch(tile::PrefetchOp op) {
  constexpr int64_t unit = 16;
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Type element = view.getType().getElementType(), wideType = builder.getI64Type();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  auto wide = [&](Value value) -> Value {
    return LLVM::SExtOp::create(builder, loc, wideType, value);
  };
  auto within = [&](Value most, Value extent, Value first) -> Value {
    Value left = LLVM::SubOp::create(builder, loc, extent, first);
    left = LLVM::SMinOp::create(builder, loc, left, most);
    left = LLVM::SMaxOp::create(builder, loc, left, i64(0));
    return LLVM::TruncOp::create(builder, loc, builder.getI32Type(), left);
  };
  Value row = wide(op.getRow()), col = wide(op.getCol());
  Value rows = within(wide(op.getRows()), view.getRows(), row);
  Value cols = within(i64(int64_t(op.getCols())), view.getCols(), col);
  Value size = LLVM::AndOp::create(builder, loc, mul(cols, bytes), i32(-unit));
  rows = LLVM::SelectOp::create(builder, loc, isZero(size), i32(0), rows);
  auto loop = scf::ForOp::create(builder, loc, i32(0), rows, i32(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = LLVM::AddOp::create(builder, loc, row,
                                 wide(loop.getInductionVar()));
  at = LLVM::MulOp::create(builder, loc, at, view.getStride());
  at = LLVM::AddOp::create(builder, loc, at, col);
  Value buffer = view->getOperand(0);
  NVVM::CpAsyncBulkPrefetchOp::create(
      builder, loc,
      LLVM::GEPOp::create(builder, loc, buffer.getType(), element, buffer,
                          ValueRange{at}),
      size, Value());
}

//===- plain
//---------------------------------------------------------------===//

/// Bytes of a piece, and pieces that a thread has under way.
static constexpr int64_t kPiece = 16, kPiecesAhead = 4;
static constexpr int64_t kRowPieces = kSwizzledRow / kPiece;

/// The threads of the producer take pieces of 16 bytes in turn, and lay them
/// where the copy unit would: in a row r of a block, piece c at place c xor r
/// mod 8.
void TileKernel::fetchPlain(tile::FetchOp op) {
  for (int64_t i = 0; i < layout.placeOf(op.getBlock()).panels; ++i)
    copyPanel(op, i);
}

void TileKernel::copyPanel(tile::FetchOp op, int64_t panel) {
  tile::BlockType block = op.getBlock().getType();
  Value start =
      add(offsets.lookup(op.getBlock()),
          i32(panel * layout.placeOf(op.getBlock()).panelStep));
  Value aligned = hasAlignedRows(op.getView().getDefiningOp<tile::ViewOp>());
  int64_t pieces = block.getRows() * kRowPieces;
  Value column = LLVM::AndOp::create(builder, loc, thread, i32(kRowPieces - 1));
  auto loop = scf::ForOp::create(builder, loc, thread, i32(pieces),
                                 i32(kPiecesAhead * kWarpgroup));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<std::pair<Value, Value>> loaded; // a row and its piece
  for (int64_t i = 0; i < kPiecesAhead; ++i) {
    Value row = LLVM::LShrOp::create(
        builder, loc, add(loop.getInductionVar(), i32(i * kWarpgroup)),
        i32(llvm::Log2_64(kRowPieces)));
    Value inBlock = add(column, i32(panel * kRowPieces));
    loaded.push_back({row, loadPiece(op, row, inBlock, aligned)});
  }
  for (auto [row, piece] : loaded) {
    Value turned = LLVM::XOrOp::create(
        builder, loc, column,
        LLVM::AndOp::create(builder, loc, row, i32(kRowPieces - 1)));
    Value at = add(start, add(mul(row, kSwizzledRow), mul(turned, kPiece)));
    // A block need not fill the last round.
    auto store = [&, piece = piece] {
      LLVM::StoreOp::create(builder, loc, piece, shared(at), kPiece);
    };
    if (pieces % (kPiecesAhead * kWarpgroup))
      guarded(isLess(row, i32(block.getRows())), store);
    else
      store();
  }
}

/// Whether all rows begin at multiples of a piece.
Value TileKernel::hasAlignedRows(tile::ViewOp view) {
  int64_t bytes = view.getType().getElementType().getIntOrFloatBitWidth() / 8;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           view->getOperand(0));
  Value bits = address;
  for (Value stride : {view.getStride(), view.getApart()})
    if (stride)
      bits = LLVM::OrOp::create(
          builder, loc, bits,
          LLVM::MulOp::create(builder, loc, stride, i64(bytes)));
  Value rest = LLVM::AndOp::create(builder, loc, bits, i64(kPiece - 1));
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, rest,
                              i64(0));
}

/// Where the matrix of a stack begins, in elements; none of another view.
Value TileKernel::matrixAt(tile::FetchOp op) {
  if (!op.getMatrix())
    return {};
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Value number = LLVM::SExtOp::create(builder, loc, builder.getI64Type(),
                                      op.getMatrix());
  return LLVM::MulOp::create(builder, loc, number, view.getApart());
}

/// One load where the piece is aligned and within the extents; or element by
/// element, those beyond as zero.
Value TileKernel::loadPiece(tile::FetchOp op, Value row, Value column,
                            Value aligned) {
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Type element = builder.getIntegerType(
      view.getType().getElementType().getIntOrFloatBitWidth());
  int64_t count = 8 * kPiece / element.getIntOrFloatBitWidth();
  auto piece = VectorType::get({count}, element);
  auto wide = [&](Value value) -> Value {
    return LLVM::SExtOp::create(builder, loc, builder.getI64Type(), value);
  };
  Value inRow = wide(add(op.getRow(), row));
  Value first = wide(add(op.getCol(), mul(column, count)));
  Value exists = isLess(inRow, view.getRows());
  Value start =
      add(LLVM::MulOp::create(builder, loc, inRow, view.getStride()), first);
  if (Value matrix = matrixAt(op))
    start = add(start, matrix);
  auto at = [&](Value offset) -> Value {
    Value buffer = view->getOperand(0);
    return LLVM::GEPOp::create(builder, loc, buffer.getType(), element, buffer,
                               ValueRange{offset});
  };
  Value whole = LLVM::AndOp::create(
      builder, loc, LLVM::AndOp::create(builder, loc, aligned, exists),
      isLess(add(first, i64(count - 1)), view.getCols()));
  auto branch = scf::IfOp::create(builder, loc, TypeRange{piece}, whole,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value loaded =
      LLVM::LoadOp::create(builder, loc, piece, at(start), unsigned(kPiece));
  scf::YieldOp::create(builder, loc, loaded);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = LLVM::ConstantOp::create(builder, loc, element,
                                        builder.getIntegerAttr(element, 0));
  Value result = LLVM::UndefOp::create(builder, loc, piece);
  for (int64_t i = 0; i < count; ++i) {
    // The first element of a tensor always exists.
    Value there = LLVM::AndOp::create(
        builder, loc, exists, isLess(add(first, i64(i)), view.getCols()));
    Value offset =
        LLVM::SelectOp::create(builder, loc, there, add(start, i64(i)), i64(0));
    Value value = LLVM::LoadOp::create(builder, loc, element, at(offset),
                                       element.getIntOrFloatBitWidth() / 8);
    value = LLVM::SelectOp::create(builder, loc, there, value, zero);
    result = LLVM::InsertElementOp::create(builder, loc, result, value, i32(i));
  }
  scf::YieldOp::create(builder, loc, result);
  return branch.getResult(0);
}
