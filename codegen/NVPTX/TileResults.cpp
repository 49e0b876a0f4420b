// TileResults.cpp - arithmetic on sums, and how they leave the registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

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
    } else if (auto root = dyn_cast<kernel::SqrtOp>(each)) {
      mapping.map(
          root.getResult(),
          LLVM::SqrtOp::create(builder, loc, mapping.lookup(root.getA())));
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

/// Null where a map has arithmetic without a form here.
Value TileKernel::pairOf(Value values, size_t number) {
  auto hold = values.getDefiningOp<tile::HoldOp>();
  if (hold && hold.getSlot() >= layout.heldInRegisters)
    return loadHeld(hold, number);
  auto map = values.getDefiningOp<tile::MapOp>();
  if (!map)
    return pairs.find(values)->second[number];
  SmallVector<Value> operands;
  for (Value each : map.getValues()) {
    operands.push_back(pairOf(each, number));
    if (!operands.back())
      return {};
  }
  return mapPair(map, operands);
}

//===- stores
//--------------------------------------------------------------===//

/// Pairs that leave together.
static constexpr int64_t kPartPairs = 4;

LogicalResult TileKernel::put(tile::PutOp op) {
  bool isStaged = layout.stagings && codegen::isStaged(op, schedule);
  LogicalResult done = isStaged ? putClipped(op) : putDirect(op);
  if (failed(done))
    return op->emitOpError("of arithmetic without a form on sm_90a");
  return success();
}

/// The copy unit knows no end of rows but the tensor's.
LogicalResult TileKernel::putClipped(tile::PutOp op) {
  if (!op.getEnd())
    return putStaged(op);
  Value last = add(op.getRow(), i32(op.getValues().getType().getRows() - 1));
  auto branch = scf::IfOp::create(builder, loc, isLess(last, op.getEnd()),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(putStaged(op)))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  return putDirect(op);
}

/// Through shared memory: warps lay elements where the copy unit looks for
/// them, and the unit clips what lies beyond the extents. Boxes take turns, so
/// that one is filled while the others are on their way.
LogicalResult TileKernel::putStaged(tile::PutOp op) {
  MLIRContext *context = builder.getContext();
  tile::ValuesType type = op.getValues().getType();
  bool isWide = type.getElementType().getIntOrFloatBitWidth() == 32;
  int64_t cols = boxCols(type.getElementType()),
          boxBytes = kDotRows * kSwizzledRow;
  auto view = op.getView().getDefiningOp<tile::ViewOp>();
  Value map = mapArgument({tensorOf(func, view).str(), kDotRows, cols});
  Value leads = isZero(own);
  Value barrier = add(consumer, i32(1));
  Value threads = i32(kWarpgroup);
  auto meet = [&] {
    NVVM::BarrierOp::create(builder, loc, Type(), barrier, threads,
                            NVVM::BarrierReductionAttr(), Value());
  };
  Value staging =
      add(i32(layout.staging), mul(consumer, layout.stagings * boxBytes));
  int64_t boxes = type.getCols() / cols, boxPairs = 2 * cols / kPairCols;
  for (int64_t box = 0; box < boxes; ++box) {
    Value turn = add(staging, i32((box % layout.stagings) * boxBytes));
    guarded(leads, [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(
          builder, loc, builder.getI32IntegerAttr(layout.stagings - 1),
          builder.getUnitAttr());
    });
    meet();
    // Few at a time, since each is computed in registers beside the sums.
    for (int64_t part = 0; part < boxPairs / kPartPairs; ++part) {
      SmallVector<Value> results;
      for (int64_t i = 0; i < kPartPairs; ++i) {
        size_t pair = size_t(box * boxPairs + part * kPartPairs + i);
        loadAhead(op.getValues(), pair);
        results.push_back(pairOf(op.getValues(), pair));
        if (!results.back())
          return failure();
      }
      if (isWide)
        stageWide(results, part, turn);
      else
        stagePairs(results, part, turn);
    }
    NVVM::FenceProxyOp::create(
        builder, loc,
        NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
    meet();
    guarded(leads, [&] {
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          builder, loc, map, shared(turn),
          ValueRange{add(op.getCol(), i32(box * cols)), op.getRow()}, Value(),
          NVVM::TMAStoreModeAttr::get(context, NVVM::TMAStoreMode::TILE),
          Value());
      NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
    });
  }
  return success();
}

/// Bytes of a piece of a swizzled row, which lies at its number xor that of the
/// row mod 8.
static constexpr int64_t kPiece = 16;

/// Elements of two bytes: a warp stores 16 rows of 8 elements at a time, twice.
/// Lanes 0 to 15 name the rows of the left 8 columns, the others the right.
void TileKernel::stagePairs(ArrayRef<Value> results, int64_t part,
                            Value staging) {
  MLIRContext *context = builder.getContext();
  Value warp = LLVM::LShrOp::create(builder, loc, own, i32(5));
  Value row = add(mul(warp, kWarpRows),
                  LLVM::AndOp::create(builder, loc, lane, i32(15)));
  Value right = LLVM::LShrOp::create(builder, loc, lane, i32(4));
  Value turned = LLVM::AndOp::create(builder, loc, lane, i32(7));
  SmallVector<Value> sources;
  for (Value pair : results)
    sources.push_back(
        LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), pair));
  Value piece =
      LLVM::XOrOp::create(builder, loc, add(right, i32(2 * part)), turned);
  Value at = add(add(staging, mul(row, kSwizzledRow)), mul(piece, kPiece));
  NVVM::StMatrixOp::create(
      builder, loc, shared(at), sources,
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltTypeAttr::get(context, NVVM::LdStMatrixEltType::B16));
}

/// Elements of four bytes: every thread stores its own pairs, half a piece
/// each.
void TileKernel::stageWide(ArrayRef<Value> results, int64_t part,
                           Value staging) {
  Value quad = LLVM::LShrOp::create(builder, loc, lane, i32(2));
  Value inQuad = LLVM::AndOp::create(builder, loc, lane, i32(3));
  Value warp = LLVM::LShrOp::create(builder, loc, own, i32(5));
  Value rowAt =
      add(staging, mul(add(mul(warp, kWarpRows), quad), kSwizzledRow));
  Value right = LLVM::LShrOp::create(builder, loc, inQuad, i32(1));
  Value half =
      mul(LLVM::AndOp::create(builder, loc, inQuad, i32(1)), kPiece / 2);
  for (auto [i, pair] : llvm::enumerate(results)) {
    int64_t j = part * kPartPairs / 2 + int64_t(i / 2), h = int64_t(i % 2);
    Value piece =
        LLVM::XOrOp::create(builder, loc, add(right, i32(2 * j)), quad);
    Value at = add(add(rowAt, i32(h * kPairRows * kSwizzledRow)),
                   add(mul(piece, kPiece), half));
    LLVM::StoreOp::create(builder, loc, pair, shared(at), kPiece / 2);
  }
}
