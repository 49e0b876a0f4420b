// TileResults.cpp - arithmetic on sums, and how they leave the registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

/// Pair 2j + h of a thread, in a warp w of the warpgroup: row 16w + lane/4 + 8h
/// and columns 8j + 2(lane mod 4) and the next.
static constexpr int64_t kPairCols = 8, kPairRows = 8, kWarpRows = 16;

//===- arithmetic
//----------------------------------------------------------===//

/// One rounding to nearest even, NaN canonical. The conversions of sm_90a give
/// every NaN as 0x7FFF, the largest of 16-bit integers with a sign: what is
/// above the canonical NaN is that.
Value TileKernel::narrow(Value pair, FloatType to) {
  auto from = cast<FloatType>(getElementTypeOrSelf(pair));
  auto type = VectorType::get({2}, to);
  unsigned width = to.getWidth();
  APInt quiet = APFloat::getQNaN(to.getFloatSemantics()).bitcastToAPInt();
  auto ints = VectorType::get({2}, builder.getIntegerType(width));
  Value nan = LLVM::ConstantOp::create(builder, loc, ints,
                                       DenseElementsAttr::get(ints, quiet));
  if (from != to && width == 16 && from.isF32()) {
    Value near = LLVM::FPTruncOp::create(builder, loc, type, pair);
    Value bits = LLVM::BitcastOp::create(builder, loc, ints, near);
    return LLVM::BitcastOp::create(
        builder, loc, type, LLVM::SMinOp::create(builder, loc, bits, nan));
  }
  if (from != to)
    return {};
  Value isNaN =
      LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::uno, pair, pair);
  Value canonical = LLVM::BitcastOp::create(builder, loc, type, nan);
  return LLVM::SelectOp::create(builder, loc, isNaN, canonical, pair);
}

/// The region on two neighbours at once.
Value TileKernel::mapPair(tile::MapOp op, ArrayRef<Value> operands) {
  IRMapping mapping;
  Block &body = op.getBody().front();
  for (auto [argument, pair] : llvm::zip(body.getArguments(), operands))
    mapping.map(argument, pair);
  auto twice = [](Type type) -> Type { return VectorType::get({2}, type); };
  for (Operation &each : body.without_terminator()) {
    if (auto rounding = dyn_cast<kernel::NarrowOp>(each)) {
      Value result = narrow(mapping.lookup(rounding.getA()),
                            cast<FloatType>(rounding.getType()));
      if (!result)
        return {};
      mapping.map(rounding.getResult(), result);
    } else if (auto constant = dyn_cast<arith::ConstantOp>(each)) {
      auto type = cast<VectorType>(twice(constant.getType()));
      mapping.map(
          constant.getResult(),
          arith::ConstantOp::create(
              builder, loc, DenseElementsAttr::get(type, constant.getValue())));
    } else if (auto fma = dyn_cast<kernel::FmaOp>(each)) {
      mapping.map(fma.getResult(),
                  LLVM::FMAOp::create(builder, loc, mapping.lookup(fma.getA()),
                                      mapping.lookup(fma.getB()),
                                      mapping.lookup(fma.getC())));
    } else if (isa<arith::ArithDialect>(each.getDialect())) {
      Operation *clone = builder.clone(each, mapping);
      for (auto [from, to] : llvm::zip(each.getResults(), clone->getResults()))
        to.setType(twice(from.getType()));
    } else {
      return {};
    }
  }
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

LogicalResult TileKernel::map(tile::MapOp op) {
  SmallVector<Value> results;
  size_t count = pairs.lookup(op.getValues().front()).size();
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (Value value : op.getValues())
      operands.push_back(pairs.lookup(value)[i]);
    Value result = mapPair(op, operands);
    if (!result)
      return op->emitOpError("has arithmetic without a form on sm_90a");
    results.push_back(result);
  }
  pairs[op.getResult()] = std::move(results);
  return success();
}

//===- stores
//--------------------------------------------------------------===//

void TileKernel::put(tile::PutOp op) {
  if (isStaged(op, schedule))
    putStaged(op);
  else
    putDirect(op);
}

/// Through shared memory: a warp lays 16 rows of 8 elements each where the copy
/// unit looks for them, and the unit clips what lies beyond the extents. Boxes
/// take turns, so that one is filled while the others are on their way.
void TileKernel::putStaged(tile::PutOp op) {
  MLIRContext *context = builder.getContext();
  tile::ValuesType type = op.getValues().getType();
  ArrayRef<Value> all = pairs.find(op.getValues())->second;
  int64_t cols = boxCols(type.getElementType()),
          boxBytes = kDotRows * kSwizzledRow;
  constexpr int64_t piece = 16, pieceCols = 8; // of a swizzled row
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Value map = mapArgument({tensorOf(func, view).str(), kDotRows, cols});
  Value leads = isZero(own);
  Value barrier = add(consumer, i32(1));
  Value threads = i32(kWarpgroup);
  auto meet = [&] {
    NVVM::BarrierOp::create(builder, loc, Type(), barrier, threads,
                            NVVM::BarrierReductionAttr(), Value());
  };
  // Lanes 0 to 15 name the rows of the left 8 columns, the others the right.
  Value warp = LLVM::LShrOp::create(builder, loc, own, i32(5));
  Value row = add(mul(warp, kWarpRows),
                  LLVM::AndOp::create(builder, loc, lane, i32(15)));
  Value right = LLVM::LShrOp::create(builder, loc, lane, i32(4));
  Value turned = LLVM::AndOp::create(builder, loc, lane, i32(7));
  Value staging =
      add(i32(layout.staging), mul(consumer, layout.stagings * boxBytes));
  Value rowAt = add(staging, mul(row, kSwizzledRow));
  int64_t boxes = type.getCols() / cols;
  for (int64_t box = 0; box < boxes; ++box) {
    int64_t turn = (box % layout.stagings) * boxBytes;
    guarded(leads, [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(
          builder, loc, builder.getI32IntegerAttr(layout.stagings - 1),
          builder.getUnitAttr());
    });
    meet();
    for (int64_t part = 0; part < cols / (2 * pieceCols); ++part) {
      SmallVector<Value> sources;
      for (int64_t j = 0; j < 2; ++j)
        for (int64_t h = 0; h < 2; ++h)
          sources.push_back(LLVM::BitcastOp::create(
              builder, loc, builder.getI32Type(),
              all[2 * (box * cols / kPairCols + 2 * part + j) + h]));
      Value chunk =
          LLVM::XOrOp::create(builder, loc, add(right, i32(2 * part)), turned);
      Value at = shared(add(add(rowAt, mul(chunk, piece)), i32(turn)));
      NVVM::StMatrixOp::create(
          builder, loc, at, sources,
          NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
          NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
          NVVM::LdStMatrixEltTypeAttr::get(context,
                                           NVVM::LdStMatrixEltType::B16));
    }
    NVVM::FenceProxyOp::create(
        builder, loc,
        NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
    meet();
    guarded(leads, [&] {
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          builder, loc, map, shared(add(staging, i32(turn))),
          ValueRange{add(op.getCol(), i32(box * cols)), op.getRow()}, Value(),
          NVVM::TMAStoreModeAttr::get(context, NVVM::TMAStoreMode::TILE),
          Value());
      NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
    });
  }
}

/// From registers, element by element where it exists.
void TileKernel::putDirect(tile::PutOp op) {
  ArrayRef<Value> all = pairs.find(op.getValues())->second;
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  auto wide = [&](Value value) -> Value {
    return LLVM::SExtOp::create(builder, loc, builder.getI64Type(), value);
  };
  Value quad = LLVM::LShrOp::create(builder, loc, lane, i32(2));
  Value warp = LLVM::LShrOp::create(builder, loc, own, i32(5));
  Value inQuad = LLVM::AndOp::create(builder, loc, lane, i32(3));
  Value row = wide(add(op.getRow(), add(mul(warp, kWarpRows), quad)));
  Value col = wide(add(op.getCol(), mul(inQuad, 2)));
  for (int64_t h = 0; h < 2; ++h) {
    Value at = add(row, i64(h * kPairRows));
    guarded(isLess(at, view.getRows()), [&] {
      for (size_t j = 0; 2 * j < all.size(); ++j)
        storePair(op, all[2 * j + h], at, add(col, i64(j * kPairCols)));
    });
  }
}

void TileKernel::storePair(tile::PutOp op, Value pair, Value row, Value col) {
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Type element = op.getValues().getType().getElementType();
  Value buffer = view->getOperand(0);
  for (int64_t i = 0; i < 2; ++i) {
    Value at = i ? add(col, i64(i)) : col;
    guarded(isLess(at, view.getCols()), [&] {
      Value offset =
          add(LLVM::MulOp::create(builder, loc, row, view.getStride()), at);
      Value to = LLVM::GEPOp::create(builder, loc, buffer.getType(), element,
                                     buffer, ValueRange{offset});
      LLVM::StoreOp::create(
          builder, loc,
          LLVM::ExtractElementOp::create(builder, loc, pair, i32(i)), to,
          element.getIntOrFloatBitWidth() / 8);
    });
  }
}
