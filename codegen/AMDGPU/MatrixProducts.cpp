// MatrixProducts.cpp - the matrix instructions of CDNA2 and CDNA3
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/SharedTiles.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;
using lowering::Emit;
using lowering::SharedBlock;
using lowering::WaveShape;

namespace {

/// Rows and columns of an instruction, and sums of a lane in each.
constexpr int64_t kSide = 32, kSums = 16;

/// 32 x 32 results. Lane l has of both operands row l mod 32, and of the depth
/// what its half l / 32 is due: of 8 bf16 or f16 four neighbours, of 2 f32 one.
/// Register r of the result is row 8 (r / 4) + 4 (l / 32) + r mod 4 of column
/// l mod 32 (AMD matrix instruction calculator).
class MatrixProducts : public lowering::WaveProducts {
public:
  explicit MatrixProducts(WaveShape shape)
      : shape(shape), rows(shape.rows / kSide), cols(shape.cols / kSide) {}

  std::string whyNot() const override {
    if (shape.rows % kSide || shape.cols % kSide)
      return llvm::formatv("{0} x {1} elements for products of {2} x {2}",
                           shape.rows, shape.cols, kSide);
    return "";
  }
  Type sumsType(MLIRContext *context) const override {
    return LLVM::LLVMStructType::getLiteral(
        context,
        SmallVector<Type>(rows * cols,
                          VectorType::get({kSums}, Float32Type::get(context))));
  }
  Value multiply(Emit emit, Value sums, SharedBlock a, SharedBlock b,
                 Value lane, Value piece) const override {
    Value row = emit.modulo(lane, kSide), half = emit.shr(lane, 5);
    SmallVector<SmallVector<Value>> left, right; // by instruction
    for (int64_t i = 0; i < rows; ++i)
      left.push_back(read(emit, a.at(emit, row, i * kSide, piece), half));
    for (int64_t j = 0; j < cols; ++j)
      right.push_back(read(emit, b.at(emit, row, j * kSide, piece), half));
    SmallVector<Value> all;
    for (int64_t i = 0; i < rows * cols; ++i)
      all.push_back(emit.member(sums, i));
    for (size_t k = 0; k < left.front().size(); ++k)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j) {
          Value &sum = all[i * cols + j];
          sum = step(emit, left[i][k], right[j][k], sum);
        }
    return emit.pack(sums.getType(), all);
  }
  SmallVector<Place> places() const override {
    SmallVector<Place> all;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        for (int64_t r = 0; r < kSums; ++r)
          all.push_back({i * kSide + r / 4 * 8 + r % 4, j * kSide});
    return all;
  }
  std::pair<Value, Value> origin(Emit emit, Value lane) const override {
    return {emit.mul(emit.shr(lane, 5), 4), emit.modulo(lane, kSide)};
  }
  SmallVector<Value> elements(Emit emit, Value sums) const override {
    SmallVector<Value> all;
    for (int64_t i = 0; i < rows * cols; ++i)
      for (int64_t r = 0; r < kSums; ++r)
        all.push_back(emit.extract(emit.member(sums, i), r));
    return all;
  }

protected:
  /// What the lane's half is due of a piece, for each instruction.
  virtual SmallVector<Value> read(Emit emit, Value from, Value half) const = 0;
  virtual Value step(Emit emit, Value a, Value b, Value sum) const = 0;

  template <typename Op>
  static Value instruction(Emit emit, Value a, Value b, Value sum) {
    // The last three select nothing: each block is its own.
    Value none = emit.i32(0);
    return Op::create(emit.builder, emit.loc, sum.getType(),
                      ValueRange{a, b, sum, none, none, none})
        ->getResult(0);
  }

  WaveShape shape;
  int64_t rows, cols;
};

/// 32x32x8: one step of dot.cdna3. A piece is one instruction.
class FusedProducts final : public MatrixProducts {
public:
  using MatrixProducts::MatrixProducts;

private:
  SmallVector<Value> read(Emit emit, Value from, Value half) const override {
    Value at = LLVM::GEPOp::create(emit.builder, emit.loc, from.getType(),
                                   emit.builder.getI8Type(), from,
                                   ValueRange{emit.mul(half, 8)});
    Type element = shape.element.isBF16() ? Type(emit.builder.getI16Type())
                                          : Type(shape.element);
    return {LLVM::LoadOp::create(emit.builder, emit.loc,
                                 VectorType::get({4}, element), at,
                                 /*alignment=*/8)};
  }
  Value step(Emit emit, Value a, Value b, Value sum) const override {
    if (shape.element.isBF16())
      return instruction<ROCDL::mfma_f32_32x32x8bf16_1k>(emit, a, b, sum);
    return instruction<ROCDL::mfma_f32_32x32x8f16>(emit, a, b, sum);
  }
};

/// 32x32x2 of f32: two fma, one for each half of the lanes. Both halves read a
/// piece and take theirs of each pair of elements.
class ChainedProducts final : public MatrixProducts {
public:
  using MatrixProducts::MatrixProducts;

private:
  SmallVector<Value> read(Emit emit, Value from, Value half) const override {
    OpBuilder &b = emit.builder;
    Value upper = LLVM::ICmpOp::create(b, emit.loc, LLVM::ICmpPredicate::ne,
                                       half, emit.i32(0));
    int64_t count =
        8 * lowering::kPieceBytes / shape.element.getIntOrFloatBitWidth();
    bool isBf16 = shape.element.isBF16();
    Value piece = LLVM::LoadOp::create(
        b, emit.loc,
        isBf16 ? VectorType::get({count / 2}, b.getI32Type())
               : VectorType::get({count}, shape.element),
        from, unsigned(lowering::kPieceBytes));
    SmallVector<Value> own;
    for (int64_t k = 0; k < count; k += 2) {
      if (isBf16) {
        Value word = emit.extract(piece, k / 2);
        own.push_back(emit.select(upper, lowering::widenBf16(emit, word, true),
                                  lowering::widenBf16(emit, word, false)));
        continue;
      }
      Value value = emit.select(upper, emit.extract(piece, k + 1),
                                emit.extract(piece, k));
      if (!shape.element.isF32())
        value = LLVM::FPExtOp::create(b, emit.loc, b.getF32Type(), value);
      own.push_back(value);
    }
    return own;
  }
  Value step(Emit emit, Value a, Value b, Value sum) const override {
    return instruction<ROCDL::mfma_f32_32x32x2f32>(emit, a, b, sum);
  }
};

} // namespace

std::unique_ptr<lowering::WaveProducts>
codegen::matrixProducts(StringRef step, WaveShape shape) {
  if (step == "dot.fma.f32")
    return std::make_unique<ChainedProducts>(shape);
  if (step == (shape.element.isBF16() ? "dot.cdna3" : "dot.cdna3.f16"))
    return std::make_unique<FusedProducts>(shape);
  return nullptr;
}
