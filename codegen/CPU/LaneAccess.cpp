// LaneAccess.cpp - loads and stores of all lanes at once
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/LaneAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

Value LaneAccess::i64(int64_t v) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(v));
}

LaneAccess::Access LaneAccess::accessOf(Operation *op, Value buffer,
                                        Value offset, Value laneOffsets,
                                        ValueRange masks, int64_t laneStride,
                                        ValueRange values) {
  auto vector = cast<VectorType>(values.front().getType());
  unsigned width = vector.getElementTypeBitWidth();
  Type element = builder.getIntegerType(width);
  Value base = LLVM::GEPOp::create(builder, loc, buffer.getType(), element,
                                   buffer, ValueRange{offset});
  return {base,
          laneOffsets,
          masks,
          laneStride,
          vector.getDimSize(0),
          int64_t(values.size()),
          element,
          width / 8};
}

Value LaneAccess::shuffle(Value v, ArrayRef<int32_t> indices) {
  return LLVM::ShuffleVectorOp::create(builder, loc, v, v, indices);
}

Value LaneAccess::address(const Access &a, int64_t lane, int64_t j) {
  Value base = a.base;
  if (a.laneOffsets) {
    Value offset =
        LLVM::ExtractElementOp::create(builder, loc, a.laneOffsets, i64(lane));
    base = LLVM::GEPOp::create(builder, loc, base.getType(), a.element, base,
                               ValueRange{offset});
  }
  int64_t constant = lane * a.laneStride + j;
  if (!constant)
    return base;
  return LLVM::GEPOp::create(builder, loc, base.getType(), a.element, base,
                             ArrayRef<LLVM::GEPArg>{int(constant)});
}

Value LaneAccess::maskOf(const Access &a, int64_t lane, int64_t j) {
  if (a.masks.empty())
    return {};
  Value mask = a.masks[a.masks.size() == 1 ? 0 : j];
  return LLVM::ExtractElementOp::create(builder, loc, mask, i64(lane));
}

/// The elements of all values, those of one lane side by side.
Value LaneAccess::interleave(ArrayRef<Value> values, int64_t lanes) {
  if (values.size() == 1)
    return values.front();
  // Concatenate pairwise (the count is a power of two), then reorder once.
  SmallVector<Value> parts(values);
  int64_t width = lanes;
  while (parts.size() > 1) {
    SmallVector<Value> next;
    SmallVector<int32_t> both(2 * width);
    std::iota(both.begin(), both.end(), 0);
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(LLVM::ShuffleVectorOp::create(builder, loc, parts[i],
                                                   parts[i + 1], both));
    parts = next;
    width *= 2;
  }
  SmallVector<int32_t> order;
  for (int32_t lane = 0; lane < lanes; ++lane)
    for (int32_t j = 0; j < int32_t(values.size()); ++j)
      order.push_back(j * lanes + lane);
  return shuffle(parts.front(), order);
}

Value LaneAccess::wideMask(const Access &a) {
  if (a.masks.size() > 1)
    return interleave(SmallVector<Value>(a.masks), a.lanes);
  if (a.pack == 1)
    return a.masks[0];
  SmallVector<int32_t> repeat;
  for (int32_t lane = 0; lane < a.lanes; ++lane)
    repeat.append(a.pack, lane);
  return shuffle(a.masks[0], repeat);
}

Value LaneAccess::guarded(Value mask, Type type,
                          llvm::function_ref<Value()> body) {
  if (!mask)
    return body();
  TypeRange results = type ? TypeRange(type) : TypeRange();
  auto branch =
      scf::IfOp::create(builder, loc, results, mask, /*withElse=*/bool(type));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value value = body();
  if (!type)
    return {};
  scf::YieldOp::create(builder, loc, value);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc,
                       LLVM::ZeroOp::create(builder, loc, type).getResult());
  return branch.getResult(0);
}

/// Eight elements of 16 bits a lane are four words: words are transposed in
/// registers, and each gives two elements, of which the conversion to f32 needs
/// no more than a shift or a mask.
SmallVector<Value> LaneAccess::transposeWords(const Access &a,
                                              ArrayRef<Value> z) {
  constexpr int32_t words = 4;
  int32_t lanes = a.lanes, rows = lanes / words;
  Type word = builder.getI32Type();
  Type type = VectorType::get({lanes}, word);
  auto pick = [&](Value x, Value y, bool high, int32_t width) {
    // Of each four words: the lower or higher halves of x and y in turn.
    SmallVector<int32_t> order;
    for (int32_t block = 0; block < lanes; block += words)
      for (int32_t i = 0; i < words / 2; i += width)
        for (int32_t side = 0; side < 2; ++side)
          for (int32_t w = 0; w < width; ++w)
            order.push_back(side * lanes + block + (high ? words / 2 : 0) + i +
                            w);
    return LLVM::ShuffleVectorOp::create(builder, loc, x, y, order).getResult();
  };
  Value low01 = pick(z[0], z[1], false, 1), high01 = pick(z[0], z[1], true, 1),
        low23 = pick(z[2], z[3], false, 1), high23 = pick(z[2], z[3], true, 1);
  Value transposed[] = {
      pick(low01, low23, false, 2), pick(low01, low23, true, 2),
      pick(high01, high23, false, 2), pick(high01, high23, true, 2)};
  // Block q of register i held lane i·rows + q.
  SmallVector<int32_t> order;
  for (int32_t lane = 0; lane < lanes; ++lane)
    order.push_back(lane % rows * words + lane / rows);
  SmallVector<Value> values;
  Type half = VectorType::get({lanes}, a.element);
  Value sixteen = LLVM::ConstantOp::create(
      builder, loc, type,
      DenseElementsAttr::get(cast<VectorType>(type), int32_t(16)));
  for (Value w : transposed) {
    Value own = rows == 1 ? w : shuffle(w, order);
    Value upper = LLVM::LShrOp::create(builder, loc, own, sixteen);
    values.push_back(LLVM::TruncOp::create(builder, loc, half, own));
    values.push_back(LLVM::TruncOp::create(builder, loc, half, upper));
  }
  return values;
}

/// Register i of four has the words of lanes i·lanes/4 and on.
SmallVector<Value> LaneAccess::loadWords(const Access &a) {
  Type word = builder.getI32Type();
  SmallVector<Value> z;
  if (a.contiguous()) {
    for (int32_t i = 0; i < 4; ++i)
      z.push_back(LLVM::LoadOp::create(
          builder, loc, VectorType::get({a.lanes}, word),
          LLVM::GEPOp::create(builder, loc, a.base.getType(), word, a.base,
                              ArrayRef<LLVM::GEPArg>{int(i * a.lanes)}),
          a.bytes));
    return transposeWords(a, z);
  }
  Type four = VectorType::get({4}, word);
  SmallVector<Value> parts;
  for (int64_t lane = 0; lane < a.lanes; ++lane)
    parts.push_back(guarded(maskOf(a, lane, 0), four, [&]() -> Value {
      return LLVM::LoadOp::create(builder, loc, four, address(a, lane, 0),
                                  a.bytes);
    }));
  for (int64_t width = 4; int64_t(parts.size()) > 4; width *= 2) {
    SmallVector<int32_t> both(2 * width);
    std::iota(both.begin(), both.end(), 0);
    SmallVector<Value> next;
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(LLVM::ShuffleVectorOp::create(builder, loc, parts[i],
                                                   parts[i + 1], both));
    parts = next;
  }
  return transposeWords(a, parts);
}

SmallVector<Value> LaneAccess::loadContiguous(const Access &a) {
  if (a.masks.empty() && a.isWords())
    return loadWords(a);
  Type wide = VectorType::get({a.lanes * a.pack}, a.element);
  Value all;
  if (a.masks.empty())
    all = LLVM::LoadOp::create(builder, loc, wide, a.base, a.bytes);
  else
    all = LLVM::MaskedLoadOp::create(
        builder, loc, wide, a.base, wideMask(a),
        LLVM::ZeroOp::create(builder, loc, wide).getResult(), a.bytes);
  SmallVector<Value> values;
  for (int32_t j = 0; j < a.pack; ++j) {
    SmallVector<int32_t> indices;
    for (int32_t lane = 0; lane < a.lanes; ++lane)
      indices.push_back(lane * a.pack + j);
    values.push_back(a.pack == 1 ? all : shuffle(all, indices));
  }
  return values;
}

/// A lane that is masked off must not keep others from reading, nor read.
SmallVector<Value> LaneAccess::loadShared(const Access &a) {
  SmallVector<Value> values;
  Type type = VectorType::get({a.lanes}, a.element);
  for (int64_t j = 0; j < a.pack; ++j) {
    Value any;
    for (int64_t lane = 0; lane < a.lanes && !a.masks.empty(); ++lane) {
      Value mask = maskOf(a, lane, j);
      any = any ? LLVM::OrOp::create(builder, loc, any, mask) : mask;
    }
    Value one = guarded(any, a.element, [&]() -> Value {
      return LLVM::LoadOp::create(builder, loc, a.element, address(a, 0, j),
                                  a.bytes);
    });
    values.push_back(vector::BroadcastOp::create(builder, loc, type, one));
  }
  return values;
}

SmallVector<Value> LaneAccess::loadEach(const Access &a) {
  if (a.masks.size() <= 1 && a.isWords())
    return loadWords(a);
  Type type = VectorType::get({a.lanes}, a.element);
  Type packed = VectorType::get({a.pack}, a.element);
  SmallVector<Value> values(a.pack, LLVM::ZeroOp::create(builder, loc, type));
  bool together = a.pack > 1 && a.masks.size() <= 1;
  for (int64_t lane = 0; lane < a.lanes; ++lane) {
    Value group;
    if (together)
      group = guarded(maskOf(a, lane, 0), packed, [&]() -> Value {
        return LLVM::LoadOp::create(builder, loc, packed, address(a, lane, 0),
                                    a.bytes);
      });
    for (int64_t j = 0; j < a.pack; ++j) {
      Value one =
          together
              ? LLVM::ExtractElementOp::create(builder, loc, group, i64(j))
                    .getResult()
              : guarded(maskOf(a, lane, j), a.element, [&]() -> Value {
                  return LLVM::LoadOp::create(builder, loc, a.element,
                                              address(a, lane, j), a.bytes);
                });
      values[j] = LLVM::InsertElementOp::create(builder, loc, values[j], one,
                                                i64(lane));
    }
  }
  return values;
}

SmallVector<Value> LaneAccess::load(kernel::LoadOp op) {
  Access a =
      accessOf(op, op->getOperand(0), op.getOffset(), op.getLaneOffsets(),
               op.getMasks(), op.getLaneStride(), op.getValues());
  SmallVector<Value> values = a.contiguous() ? loadContiguous(a)
                              : a.shared()   ? loadShared(a)
                                             : loadEach(a);
  for (Value &value : values)
    value = LLVM::BitcastOp::create(builder, loc,
                                    op.getValues().front().getType(), value);
  return values;
}

void LaneAccess::store(kernel::StoreOp op) {
  Access a = accessOf(op, op->getOperand(op.getValues().size()), op.getOffset(),
                      op.getLaneOffsets(), op.getMasks(), op.getLaneStride(),
                      op.getValues());
  Type type = VectorType::get({a.lanes}, a.element);
  SmallVector<Value> values;
  for (Value value : op.getValues())
    values.push_back(LLVM::BitcastOp::create(builder, loc, type, value));
  if (a.contiguous()) {
    Value all = interleave(values, a.lanes);
    if (a.masks.empty())
      LLVM::StoreOp::create(builder, loc, all, a.base, a.bytes);
    else
      LLVM::MaskedStoreOp::create(builder, loc, all, a.base, wideMask(a),
                                  a.bytes);
    return;
  }
  for (int64_t lane = 0; lane < a.lanes; ++lane)
    for (int64_t j = 0; j < a.pack; ++j)
      guarded(maskOf(a, lane, j), Type(), [&]() -> Value {
        Value one =
            LLVM::ExtractElementOp::create(builder, loc, values[j], i64(lane));
        LLVM::StoreOp::create(builder, loc, one, address(a, lane, j), a.bytes);
        return {};
      });
}
