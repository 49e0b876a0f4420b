// WarpProducts.cpp - ldmatrix and mma.sync
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/SharedTiles.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;
using lowering::Emit;
using lowering::SharedBlock;
using lowering::WaveShape;

namespace {

/// An instruction multiplies 16 rows by 8 columns; ldmatrix brings 8 rows of 16
/// bytes, of which a lane has two elements, four times.
constexpr int64_t kRows = 16, kCols = 8, kFour = 4;

/// mma.sync.m16n8k16, or k8. Lane l has in each 8 x 8 of the result row l / 4
/// and columns 2 (l mod 4) and the next.
class WarpProducts final : public lowering::WaveProducts {
public:
  WarpProducts(WaveShape shape, int64_t depth)
      : shape(shape), depth(depth), rows(shape.rows / kRows),
        cols(shape.cols / kCols) {}

  std::string whyNot() const override {
    if (shape.rows % kRows || shape.cols % (2 * kCols))
      return llvm::formatv("{0} x {1} elements for products of {2} x {3}",
                           shape.rows, shape.cols, kRows, 2 * kCols);
    return "";
  }
  Type sumsType(MLIRContext *context) const override {
    return LLVM::LLVMStructType::getLiteral(
        context,
        SmallVector<Type>(rows * cols * kFour, Float32Type::get(context)));
  }
  int64_t pieces() const override { return 2; }

  /// Both pieces in one read: of 16 rows of the first block, and of 16 of the
  /// second, which are two times 8 columns. Steps of eight take one piece after
  /// the other.
  Value multiply(Emit emit, Value sums, SharedBlock a, SharedBlock b,
                 Value lane, Value piece) const override {
    Value half = emit.shr(lane, 4);
    Value rowA = emit.modulo(lane, 16), pieceA = emit.add(piece, half);
    Value rowB = emit.add(emit.modulo(lane, 8), emit.mul(half, 8)),
          pieceB = emit.add(piece, emit.modulo(emit.shr(lane, 3), 2));
    SmallVector<Value> all = elements(emit, sums);
    SmallVector<SmallVector<Value>> right; // of 8 columns: two pieces
    for (int64_t j = 0; j < cols; j += 2) {
      SmallVector<Value> four = read(emit, b.at(emit, rowB, j * kCols, pieceB));
      right.push_back({four[0], four[1]});
      right.push_back({four[2], four[3]});
    }
    for (int64_t i = 0; i < rows; ++i) {
      // Rows 0 to 7 and 8 to 15 of the left piece, then of the right one.
      SmallVector<Value> left = read(emit, a.at(emit, rowA, i * kRows, pieceA));
      for (int64_t j = 0; j < cols; ++j) {
        MutableArrayRef<Value> four =
            MutableArrayRef<Value>(all).slice((i * cols + j) * kFour, kFour);
        if (depth == 16) {
          step(emit, four, left, right[j]);
          continue;
        }
        step(emit, four, ArrayRef(left).take_front(2), right[j].front());
        step(emit, four, ArrayRef(left).drop_front(2), right[j].back());
      }
    }
    return emit.pack(sums.getType(), all);
  }

  SmallVector<Place> places() const override {
    SmallVector<Place> all;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        for (int64_t r = 0; r < kFour; ++r)
          all.push_back({i * kRows + r / 2 * 8, j * kCols + r % 2});
    return all;
  }
  std::pair<Value, Value> origin(Emit emit, Value lane) const override {
    return {emit.shr(lane, 2), emit.mul(emit.modulo(lane, 4), 2)};
  }
  SmallVector<Value> elements(Emit emit, Value sums) const override {
    SmallVector<Value> all;
    for (int64_t i = 0; i < rows * cols * kFour; ++i)
      all.push_back(emit.member(sums, i));
    return all;
  }
  int64_t run() const override { return 2; }

private:
  /// Four registers, of two elements each.
  SmallVector<Value> read(Emit emit, Value from) const {
    MLIRContext *context = emit.builder.getContext();
    Type word = emit.builder.getI32Type();
    Value all =
        NVVM::LdMatrixOp::create(emit.builder, emit.loc,
                                 LLVM::LLVMStructType::getLiteral(
                                     context, SmallVector<Type>(kFour, word)),
                                 from, uint32_t(kFour), NVVM::MMALayout::row,
                                 NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
                                 NVVM::LdStMatrixEltType::B16);
    Type pair = shape.element.isBF16()
                    ? word
                    : Type(VectorType::get({2}, shape.element));
    SmallVector<Value> words;
    for (int64_t i = 0; i < kFour; ++i)
      words.push_back(emit.bitcast(pair, emit.member(all, i)));
    return words;
  }

  void step(Emit emit, MutableArrayRef<Value> sums, ValueRange a,
            ValueRange b) const {
    NVVM::MMATypes type =
        shape.element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
    Value result = NVVM::MmaOp::create(
        emit.builder, emit.loc,
        LLVM::LLVMStructType::getLiteral(
            emit.builder.getContext(),
            SmallVector<Type>(kFour, emit.builder.getF32Type())),
        a, b, ValueRange(ArrayRef<Value>(sums)),
        ArrayRef<int64_t>{kRows, kCols, depth}, std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{type, type},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = emit.member(result, int64_t(i));
  }

  WaveShape shape;
  int64_t depth, rows, cols;
};

} // namespace

/// On Ampere k16 is two steps of eight; on Hopper it is one of sixteen, and k8
/// one of eight.
std::unique_ptr<lowering::WaveProducts> codegen::warpProducts(StringRef atom,
                                                              WaveShape shape) {
  if (!shape.element.isBF16() && !shape.element.isF16())
    return nullptr;
  atom.consume_back(".f16");
  if (atom == "dot.nv(8,24)" || atom == "dot.nv(16,25)")
    return std::make_unique<WarpProducts>(shape, 16);
  if (atom == "dot.nv(8,25)")
    return std::make_unique<WarpProducts>(shape, 8);
  return nullptr;
}
