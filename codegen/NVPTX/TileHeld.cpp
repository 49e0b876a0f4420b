// TileHeld.cpp - values that wait for other sums on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/TileKernel.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

static int64_t pairBytes(Type element) {
  return 2 * element.getIntOrFloatBitWidth() / 8;
}

/// A thread has the pairs of its own sums, in registers or in shared memory,
/// where those of a warp lie side by side.
LogicalResult TileKernel::hold(tile::HoldOp op) {
  tile::ValuesType type = op.getType();
  size_t count = size_t(kDotRows * type.getCols() / kWarpgroup / 2);
  SmallVector<Value> values;
  bool inRegisters = op.getSlot() < layout.heldInRegisters;
  Value first = inRegisters ? Value() : heldAt(op);
  for (size_t i = 0; i < count; ++i) {
    Value pair = pairOf(op.getValues(), i);
    if (!pair)
      return op->emitOpError("of arithmetic without a form on sm_90a");
    if (inRegisters)
      values.push_back(pair);
    else
      LLVM::StoreOp::create(builder, loc, pair, heldPair(first, op, i),
                            unsigned(pairBytes(type.getElementType())));
  }
  if (inRegisters)
    pairs[op.getResult()] = pinned(values);
  return success();
}

/// Of the thread's pairs in shared memory the first.
Value TileKernel::heldAt(tile::HoldOp op) {
  tile::ValuesType type = op.getType();
  int64_t bytes = pairBytes(type.getElementType());
  int64_t ofConsumer = kDotRows * type.getCols() * bytes / 2;
  return shared(add(add(i32(layout.held[size_t(op.getSlot())]),
                        mul(consumer, ofConsumer)),
                    mul(own, bytes)));
}

/// A constant away, so that an address is no register.
Value TileKernel::heldPair(Value first, tile::HoldOp op, size_t number) {
  int64_t bytes = pairBytes(op.getType().getElementType());
  return LLVM::GEPOp::create(
      builder, loc, first.getType(), builder.getI8Type(), first,
      ArrayRef<LLVM::GEPArg>{int32_t(number) * int32_t(kWarpgroup * bytes)});
}

Value TileKernel::loadHeld(tile::HoldOp op, size_t number) {
  Type element = op.getType().getElementType();
  return LLVM::LoadOp::create(builder, loc, VectorType::get({2}, element),
                              heldPair(heldAt(op), op, number),
                              unsigned(pairBytes(element)));
}

/// Computed here, and not where they are used: until then what they are made of
/// would be alive instead.
SmallVector<Value> TileKernel::pinned(ArrayRef<Value> values) {
  auto pairType = cast<VectorType>(values.front().getType());
  Type element = pairType.getElementType();
  bool isWide = element.getIntOrFloatBitWidth() == 32;
  Type held = isWide ? element : Type(builder.getI32Type());
  size_t each = isWide ? 2 : 1;
  SmallVector<Value> operands;
  SmallVector<std::string> constraints(values.size() * each,
                                       isWide ? "=f" : "=r");
  for (Value pair : values)
    for (size_t i = 0; i < each; ++i) {
      constraints.push_back(std::to_string(operands.size()));
      operands.push_back(
          isWide ? Value(LLVM::ExtractElementOp::create(builder, loc, pair,
                                                        i32(int64_t(i))))
                 : Value(LLVM::BitcastOp::create(builder, loc, held, pair)));
    }
  auto registers = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(operands.size(), held));
  Value result =
      assembly(registers, operands, "", llvm::join(constraints, ","));
  SmallVector<Value> pinned;
  for (size_t i = 0; i < operands.size(); i += each) {
    SmallVector<Value> parts;
    for (size_t j = 0; j < each; ++j)
      parts.push_back(LLVM::ExtractValueOp::create(
          builder, loc, result, ArrayRef<int64_t>{int64_t(i + j)}));
    pinned.push_back(isWide ? pairFrom(parts)
                            : Value(LLVM::BitcastOp::create(
                                  builder, loc, pairType, parts.front())));
  }
  return pinned;
}
