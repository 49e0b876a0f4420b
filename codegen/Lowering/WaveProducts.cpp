// WaveProducts.cpp - blocks in shared memory, and chains of fma on them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/WaveProducts.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

//===----------------------------------------------------------------------===//
// Emit
//===----------------------------------------------------------------------===//

Value Emit::i32(int64_t v) const {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                  builder.getI32IntegerAttr(int32_t(v)));
}
Value Emit::i64(int64_t v) const {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(v));
}
Value Emit::add(Value a, Value b) const {
  return LLVM::AddOp::create(builder, loc, a, b);
}
Value Emit::add(Value a, int64_t b) const {
  if (!b)
    return a;
  return add(a, a.getType().isInteger(64) ? i64(b) : i32(b));
}
Value Emit::mul(Value a, int64_t b) const {
  return LLVM::MulOp::create(builder, loc, a,
                             a.getType().isInteger(64) ? i64(b) : i32(b));
}
Value Emit::shr(Value a, int64_t bits) const {
  return bits ? LLVM::LShrOp::create(builder, loc, a, i32(bits)) : a;
}
Value Emit::modulo(Value a, int64_t powerOfTwo) const {
  return LLVM::AndOp::create(builder, loc, a, i32(powerOfTwo - 1));
}
Value Emit::bitXor(Value a, Value b) const {
  return LLVM::XOrOp::create(builder, loc, a, b);
}
Value Emit::isLess(Value a, Value b) const {
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, a, b);
}
Value Emit::select(Value c, Value a, Value b) const {
  return LLVM::SelectOp::create(builder, loc, c, a, b);
}
Value Emit::wide(Value a) const {
  return LLVM::SExtOp::create(builder, loc, builder.getI64Type(), a);
}
Value Emit::bitcast(Type to, Value v) const {
  if (v.getType() == to)
    return v;
  return LLVM::BitcastOp::create(builder, loc, to, v);
}
Value Emit::extract(Value vector, int64_t i) const {
  return LLVM::ExtractElementOp::create(builder, loc, vector, i32(i));
}
Value Emit::member(Value aggregate, int64_t i) const {
  return LLVM::ExtractValueOp::create(builder, loc, aggregate,
                                      ArrayRef<int64_t>{i});
}
Value Emit::pack(Type type, ValueRange members) const {
  Value all = LLVM::UndefOp::create(builder, loc, type);
  for (auto [i, each] : llvm::enumerate(members))
    all = LLVM::InsertValueOp::create(builder, loc, all, each,
                                      ArrayRef<int64_t>{int64_t(i)});
  return all;
}
Value Emit::zero(Type type) const {
  return LLVM::ZeroOp::create(builder, loc, type);
}

Value SharedBlock::at(Emit emit, Value row, int64_t below, Value piece) const {
  // The pattern repeats after eight rows.
  Value turn = below % 8 ? emit.add(row, below) : row;
  turn = emit.modulo(emit.shr(turn, 3 - llvm::Log2_64(pieces())), pieces());
  Value within = emit.mul(emit.bitXor(piece, turn), kPieceBytes);
  Value start = emit.add(offset, emit.mul(row, rowBytes));
  Value bytes = emit.add(emit.add(start, within), below * rowBytes);
  return LLVM::GEPOp::create(emit.builder, emit.loc, base.getType(),
                             emit.builder.getI8Type(), base, ValueRange{bytes});
}

Value lowering::widenBf16(Emit emit, Value word, bool upper) {
  OpBuilder &b = emit.builder;
  Value bits =
      upper ? Value(LLVM::AndOp::create(b, emit.loc, word,
                                        emit.i32(int32_t(0xFFFF0000))))
            : Value(LLVM::ShlOp::create(b, emit.loc, word, emit.i32(16)));
  return emit.bitcast(b.getF32Type(), bits);
}

Value WaveProducts::start(Emit emit) const {
  return emit.zero(sumsType(emit.builder.getContext()));
}

//===----------------------------------------------------------------------===//
// The vector unit
//===----------------------------------------------------------------------===//

namespace {

/// Lanes above each other. Rows of lanes follow each other, and so do their
/// columns, so that what a wave reads at a time is rows side by side.
constexpr int64_t kRowLanes = 8;

class VectorProducts final : public WaveProducts {
public:
  VectorProducts(WaveShape shape, int64_t wave)
      : shape(shape), colLanes(wave / kRowLanes), rows(shape.rows / kRowLanes),
        cols(shape.cols / colLanes) {}

  std::string whyNot() const override {
    if (shape.rows % kRowLanes || shape.cols % colLanes)
      return llvm::formatv("{0} x {1} elements for {2} x {3} lanes", shape.rows,
                           shape.cols, kRowLanes, colLanes);
    return "";
  }
  Type sumsType(MLIRContext *context) const override {
    return LLVM::LLVMStructType::getLiteral(
        context, SmallVector<Type>(rows * cols, Float32Type::get(context)));
  }
  bool unrolls() const override { return false; }

  Value multiply(Emit emit, Value sums, SharedBlock a, SharedBlock b,
                 Value lane, Value piece) const override {
    auto [row, col] = origin(emit, lane);
    SmallVector<Value> left, right, all = elements(emit, sums);
    for (int64_t i = 0; i < rows; ++i)
      left.push_back(load(emit, a.at(emit, row, i * kRowLanes, piece)));
    for (int64_t j = 0; j < cols; ++j)
      right.push_back(load(emit, b.at(emit, col, j * colLanes, piece)));
    for (int64_t k = 0; k < count(); ++k) {
      SmallVector<Value> columns;
      for (Value each : right)
        columns.push_back(element(emit, each, k));
      for (int64_t i = 0; i < rows; ++i) {
        Value factor = element(emit, left[i], k);
        for (int64_t j = 0; j < cols; ++j) {
          Value &sum = all[i * cols + j];
          sum = LLVM::FMAOp::create(emit.builder, emit.loc, factor, columns[j],
                                    sum);
        }
      }
    }
    return emit.pack(sums.getType(), all);
  }

  SmallVector<Place> places() const override {
    SmallVector<Place> all;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        all.push_back({i * kRowLanes, j * colLanes});
    return all;
  }
  std::pair<Value, Value> origin(Emit emit, Value lane) const override {
    return {emit.shr(lane, llvm::Log2_64(colLanes)),
            emit.modulo(lane, colLanes)};
  }
  SmallVector<Value> elements(Emit emit, Value sums) const override {
    SmallVector<Value> all;
    for (int64_t i = 0; i < rows * cols; ++i)
      all.push_back(emit.member(sums, i));
    return all;
  }

private:
  int64_t count() const { return 8 * kPieceBytes / shape.element.getIntOrFloatBitWidth(); }

  Value load(Emit emit, Value from) const {
    Type type = shape.element;
    int64_t each = count();
    if (type.isBF16()) { // pairs
      type = emit.builder.getI32Type();
      each /= 2;
    }
    return LLVM::LoadOp::create(emit.builder, emit.loc,
                                VectorType::get({each}, type), from,
                                unsigned(kPieceBytes));
  }
  Value element(Emit emit, Value piece, int64_t k) const {
    if (shape.element.isBF16())
      return widenBf16(emit, emit.extract(piece, k / 2), k % 2);
    Value value = emit.extract(piece, k);
    if (shape.element.isF32())
      return value;
    return LLVM::FPExtOp::create(emit.builder, emit.loc,
                                 emit.builder.getF32Type(), value);
  }

  WaveShape shape;
  int64_t colLanes, rows, cols;
};

} // namespace

std::unique_ptr<WaveProducts> lowering::vectorProducts(WaveShape shape,
                                                       int64_t wave) {
  return std::make_unique<VectorProducts>(shape, wave);
}
