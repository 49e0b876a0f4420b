// TileStores.cpp - results that leave from registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

/// The most that a lane stores at a time, and what lanes exchange.
static constexpr int64_t kPieceBytes = 16, kWordBytes = 4;

static int64_t pairBytes(tile::ValuesType type) {
  return 2 * type.getElementType().getIntOrFloatBitWidth() / 8;
}

/// Whether rows of a view consist of pieces: then one lies within a row, or beyond its
/// end, as blocks begin with one. Null where no element fits words.
Value TileKernel::hasPieces(tile::ViewOp view, tile::ValuesType type) {
  if (!view.getStride() || pairBytes(type) % kWordBytes)
    return {};
  Value bytes = LLVM::MulOp::create(
      builder, loc,
      LLVM::OrOp::create(builder, loc, view.getStride(), view.getCols()),
      i64(pairBytes(type) / 2));
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                           view->getOperand(0));
  Value rest =
      LLVM::AndOp::create(builder, loc,
                          LLVM::OrOp::create(builder, loc, bytes, address),
                          i64(kPieceBytes - 1));
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, rest, i64(0));
}

/// In pieces, or element by element where it exists. What is loaded for some pairs is
/// there for both.
LogicalResult TileKernel::putDirect(tile::PutOp op) {
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  tile::ValuesType type = op.getValues().getType();
  Place place = placeOf(view, op.getRow(), op.getCol(), type, op.getEnd());
  Value isPieces = hasPieces(view, type);
  size_t count = size_t(kDotRows * type.getCols() / kWarpgroup / 2);
  size_t lanes = std::max(kPieceBytes / pairBytes(type), int64_t(1));
  for (size_t first = 0; first < count; first += 2 * lanes) {
    // The last columns may be fewer.
    while (first + 2 * lanes > count)
      lanes /= 2;
    SmallVector<Value> results;
    for (size_t i = first; i < first + 2 * lanes; ++i) {
      loadAhead(op.getValues(), i);
      results.push_back(pairOf(op.getValues(), i));
      if (!results.back())
        return failure();
    }
    int64_t column = int64_t(first / 2);
    if (!isPieces) {
      storeElements(results, column, place);
      continue;
    }
    auto branch = scf::IfOp::create(builder, loc, isPieces,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    storePieces(results, column, place);
    builder.setInsertionPointToStart(branch.elseBlock());
    storeElements(results, column, place);
  }
  return success();
}

/// Lane q of each as many as there are words has word q of all of them, in their
/// order: half of the words change places with those of the lane beside, then of
/// the one two further.
void TileKernel::exchange(MutableArrayRef<Value> words) {
  for (size_t bit = 1; bit < words.size(); bit *= 2) {
    Value isUpper = LLVM::ICmpOp::create(
        builder, loc, LLVM::ICmpPredicate::ne,
        LLVM::AndOp::create(builder, loc, lane, i32(int64_t(bit))), i32(0));
    auto choose = [&](Value upper, Value lower) -> Value {
      return LLVM::SelectOp::create(builder, loc, isUpper, upper, lower);
    };
    for (size_t i = 0; i < words.size(); ++i) {
      if (i & bit)
        continue;
      Value &low = words[i], &high = words[i | bit];
      Value other = NVVM::ShflOp::create(
          builder, loc, builder.getI32Type(), i32(-1), choose(low, high),
          i32(int64_t(bit)), i32(kWarpLanes - 1), NVVM::ShflKind::bfly,
          UnitAttr());
      low = choose(other, low);
      high = choose(high, other);
    }
  }
}

/// A lane has two elements of each eight columns. Lanes of a quad exchange them, so
/// that each has sixteen bytes of a row: what they store together are whole sectors
/// of the cache, and as few requests as there can be. `results` are pairs of two
/// rows, of as many times eight columns as there are lanes, from the given one on.
void TileKernel::storePieces(ArrayRef<Value> results, int64_t column, Place place) {
  int64_t lanes = int64_t(results.size()) / 2;
  int64_t bytes = 2 * place.element.getIntOrFloatBitWidth() / 8,
          words = bytes / kWordBytes;
  Type word = builder.getI32Type(), pair = VectorType::get({words}, word);
  // A lane's number among those that exchange says whose columns it has then.
  Value number = LLVM::AndOp::create(builder, loc, lane, i32(lanes - 1));
  place.col = add(place.col,
                  LLVM::ZExtOp::create(builder, loc, builder.getI64Type(),
                                       mul(number, kPairCols - 2)));
  Value isThere = hasCol(place, column, 0);
  for (int64_t h = 0; h < 2; ++h) {
    SmallVector<SmallVector<Value>> parts(words);
    for (size_t i = size_t(h); i < results.size(); i += 2) {
      Value both = LLVM::BitcastOp::create(builder, loc, pair, results[i]);
      for (int64_t w = 0; w < words; ++w)
        parts[size_t(w)].push_back(
            LLVM::ExtractElementOp::create(builder, loc, both, i32(w)));
    }
    for (SmallVector<Value> &part : parts)
      exchange(part);
    Value piece = LLVM::UndefOp::create(builder, loc,
                                        VectorType::get({lanes * words}, word));
    for (int64_t i = 0; i < lanes * words; ++i)
      piece = LLVM::InsertElementOp::create(
          builder, loc, piece, parts[size_t(i % words)][size_t(i / words)], i32(i));
    Value exists =
        LLVM::AndOp::create(builder, loc, hasRow(place, h), isThere);
    guarded(exists, [&] {
      LLVM::StoreOp::create(builder, loc, piece, pointerTo(place, column, h, 0),
                            unsigned(lanes * bytes));
    });
  }
}

void TileKernel::storeElements(ArrayRef<Value> results, int64_t column,
                               const Place &place) {
  unsigned bytes = place.element.getIntOrFloatBitWidth() / 8;
  for (int64_t h = 0; h < 2; ++h)
    guarded(hasRow(place, h), [&] {
      for (size_t i = size_t(h); i < results.size(); i += 2)
        for (int64_t k = 0; k < 2; ++k) {
          int64_t j = column + int64_t(i / 2);
          guarded(hasCol(place, j, k), [&] {
            LLVM::StoreOp::create(
                builder, loc,
                LLVM::ExtractElementOp::create(builder, loc, results[i], i32(k)),
                pointerTo(place, j, h, k), bytes);
          });
        }
    });
}
