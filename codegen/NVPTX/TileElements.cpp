// TileElements.cpp - elements of views in registers, as products leave sums
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

static int64_t elementBytes(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// Pairs of each operand that a thread loads at a time, beside its sums: one
/// such portion is on its way while another is used.
size_t TileKernel::portionOf() {
  if (portionPairs)
    return portionPairs;
  int64_t registers = 1, widest = 2;
  entry->walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      registers += elementBytes(load.getType().getElementType()) > 2 ? 2 : 1;
    else if (auto put = dyn_cast<tile::PutOp>(op))
      widest = std::max(
          widest, elementBytes(put.getValues().getType().getElementType()));
  });
  // Half as many where the sums leave few registers of those a consumer is given.
  constexpr int64_t most = 64, beside = 80;
  int64_t products = int64_t(layout.pipes.front().second.blocks.size()) - 1;
  int64_t sums = products * schedule.getN() * kDotRows / kWarpgroup;
  int64_t given = schedule.getConsumerRegisters();
  int64_t room = given && given - sums < beside ? most / 2 : most;
  return portionPairs = llvm::bit_floor(size_t(room / (registers * widest)));
}

TileKernel::Place TileKernel::placeOf(tile::ViewOp view, Value row, Value col,
                                      tile::ValuesType values, Value end) {
  auto wide = [&](Value value) -> Value {
    return LLVM::SExtOp::create(builder, loc, builder.getI64Type(), value);
  };
  Place place;
  place.view = view;
  place.element = values.getElementType();
  Value quad = LLVM::LShrOp::create(builder, loc, lane, i32(2));
  Value warp = LLVM::LShrOp::create(builder, loc, own, i32(5));
  Value inQuad = LLVM::AndOp::create(builder, loc, lane, i32(3));
  Value above = wide(row), left = wide(col);
  place.row = add(above, wide(add(mul(warp, kWarpRows), quad)));
  // Of the rows that a warpgroup computes, those of the values are meant.
  place.end = view.getRows();
  if (values.getRows() < kDotRows)
    place.end = LLVM::SMinOp::create(builder, loc, place.end,
                                     add(above, i64(values.getRows())));
  if (end)
    place.end = LLVM::SMinOp::create(builder, loc, place.end, wide(end));
  place.col = add(left, wide(mul(inQuad, 2)));
  // Rows do not count where all have the same elements.
  int64_t bytes = 2 * elementBytes(place.element);
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           view->getOperand(0));
  if (view.getStride())
    address = LLVM::OrOp::create(
        builder, loc, address,
        LLVM::MulOp::create(builder, loc, view.getStride(), i64(bytes / 2)));
  auto atMost = [&](Value a, int64_t more, Value b) -> Value {
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sle,
                                add(a, i64(more)), b);
  };
  auto both = [&](Value a, Value b) -> Value {
    return LLVM::AndOp::create(builder, loc, a, b);
  };
  place.isWhole = both(
      LLVM::ICmpOp::create(
          builder, loc, LLVM::ICmpPredicate::eq,
          LLVM::AndOp::create(builder, loc, address, i64(bytes - 1)), i64(0)),
      atMost(left, values.getCols(), view.getCols()));
  if (view.getStride())
    place.isWhole = both(place.isWhole, hasRow(place, /*h=*/1));
  return place;
}

/// Of element i of pair 2j + h.
Value TileKernel::pointerTo(const Place &place, int64_t j, int64_t h,
                            int64_t i) {
  tile::ViewOp view = place.view;
  Value col =
      j * kPairCols + i ? add(place.col, i64(j * kPairCols + i)) : place.col;
  Value row = h ? add(place.row, i64(h * kPairRows)) : place.row;
  Value offset =
      view.getStride()
          ? add(LLVM::MulOp::create(builder, loc, row, view.getStride()), col)
      : view.getAlong() == "rows" ? row
                                  : col;
  Value buffer = view->getOperand(0);
  return LLVM::GEPOp::create(builder, loc, buffer.getType(), place.element,
                             buffer, ValueRange{offset});
}

/// Whether row h, or element i of pair j of a row, is within the extents.
Value TileKernel::hasRow(const Place &place, int64_t h) {
  Value row = h ? add(place.row, i64(h * kPairRows)) : place.row;
  return isLess(row, place.end);
}

Value TileKernel::hasCol(const Place &place, int64_t j, int64_t i) {
  return isLess(add(place.col, i64(j * kPairCols + i)), place.view.getCols());
}

/// An element, zero where it does not exist. The first of a tensor always does.
Value TileKernel::loadElement(const Place &place, int64_t j, int64_t h,
                              int64_t i) {
  bool isRow = place.view.getAlong() == "rows",
       isCol = place.view.getAlong() == "cols";
  Value exists = isRow   ? hasRow(place, h)
                 : isCol ? hasCol(place, j, i)
                         : LLVM::AndOp::create(builder, loc, hasRow(place, h),
                                               hasCol(place, j, i));
  Value at =
      LLVM::SelectOp::create(builder, loc, exists, pointerTo(place, j, h, i),
                             place.view->getOperand(0));
  Value value = LLVM::LoadOp::create(builder, loc, place.element, at,
                                     unsigned(elementBytes(place.element)));
  Value zero = LLVM::ConstantOp::create(builder, loc, place.element,
                                        builder.getZeroAttr(place.element));
  return LLVM::SelectOp::create(builder, loc, exists, value, zero);
}

Value TileKernel::pairFrom(ValueRange elements) {
  Value pair = LLVM::UndefOp::create(
      builder, loc, VectorType::get({2}, elements[0].getType()));
  for (int64_t i = 0; i < 2; ++i)
    pair =
        LLVM::InsertElementOp::create(builder, loc, pair, elements[i], i32(i));
  return pair;
}

/// The first pairs are on their way while the last products are computed.
void TileKernel::load(tile::LoadOp op) {
  tile::ValuesType type = op.getType();
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Place place = placeOf(view, op.getRow(), op.getCol(), type);
  SmallVector<Value> &all = pairs[op.getResult()];
  all.assign(kDotRows * type.getCols() / kWarpgroup / 2, Value());
  if (view.getAlong() == "rows") {
    Value ofRow[2];
    for (int64_t h = 0; h < 2; ++h) {
      Value one = loadElement(place, 0, h, 0);
      ofRow[h] = pairFrom({one, one});
    }
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = ofRow[i % 2];
    return;
  }
  places[op.getResult()] = place;
  loadPortion(op, 0);
}

/// Lines of the portions after the first come from memory into the cache while
/// there are products to compute. A portion of a row is a line at most.
void TileKernel::prefetch(const Place &place, size_t pairs, size_t portion) {
  auto level = NVVM::PrefetchCacheLevelAttr::get(builder.getContext(),
                                                 NVVM::PrefetchCacheLevel::L2);
  for (size_t first = portion; first < pairs; first += portion)
    for (int64_t h = 0; h < 2; ++h)
      NVVM::PrefetchOp::create(builder, loc, level, nullptr,
                               pointerTo(place, int64_t(first / 2), h, 0),
                               Value(), nullptr);
}

/// A portion as pairs where the block is whole, or element by element.
void TileKernel::loadPortion(tile::LoadOp op, size_t portion) {
  const Place &place = places.find(op.getResult())->second;
  SmallVector<Value> &all = pairs[op.getResult()];
  bool isVector = !place.view.getStride();
  size_t count = portionOf();
  size_t first = portion * count, last = std::min(first + count, all.size());
  if (first >= last || all[first])
    return;
  auto pairType = VectorType::get({2}, place.element);
  int64_t rows = isVector ? 1 : 2;
  SmallVector<Type> types((last - first) / 2 * size_t(rows), pairType);
  auto branch = scf::IfOp::create(builder, loc, types, place.isWhole,
                                  /*withElseRegion=*/true);
  for (bool whole : {true, false}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(whole ? branch.thenBlock()
                                           : branch.elseBlock());
    if (whole && !isVector && portion == 0)
      prefetch(place, all.size(), count);
    SmallVector<Value> loaded;
    for (int64_t j = int64_t(first / 2); j < int64_t(last / 2); ++j)
      for (int64_t h = 0; h < rows; ++h)
        loaded.push_back(
            whole ? Value(LLVM::LoadOp::create(
                        builder, loc, pairType, pointerTo(place, j, h, 0),
                        unsigned(2 * elementBytes(place.element))))
                  : pairFrom({loadElement(place, j, h, 0),
                              loadElement(place, j, h, 1)}));
    scf::YieldOp::create(builder, loc, loaded);
  }
  for (size_t i = first; i < last; ++i)
    all[i] = branch.getResult(unsigned(isVector ? (i - first) / 2 : i - first));
}

/// Begins to load the portion with that pair, of each operand, and the one
/// after it.
void TileKernel::loadAhead(Value values, size_t pair) {
  if (auto map = values.getDefiningOp<tile::MapOp>()) {
    for (Value operand : map.getValues())
      loadAhead(operand, pair);
  } else if (places.contains(values)) {
    auto op = values.getDefiningOp<tile::LoadOp>();
    size_t count = portionOf();
    loadPortion(op, pair / count);
    loadPortion(op, pair / count + 1);
  }
}
