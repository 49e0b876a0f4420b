// WaveProducts.h - how the lanes of a wave multiply what lies in shared memory
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_WAVEPRODUCTS_H
#define BITPACT_CODEGEN_LOWERING_WAVEPRODUCTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <memory>

namespace bitpact::lowering {

/// Bytes that a thread moves at a time. Rows of blocks are cut into pieces.
inline constexpr int64_t kPieceBytes = 16;

/// Builds integers and addresses at a place.
struct Emit {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value i32(int64_t v) const;
  mlir::Value i64(int64_t v) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value add(mlir::Value a, int64_t b) const;
  mlir::Value mul(mlir::Value a, int64_t b) const;
  mlir::Value shr(mlir::Value a, int64_t bits) const;
  mlir::Value modulo(mlir::Value a, int64_t powerOfTwo) const;
  mlir::Value bitXor(mlir::Value a, mlir::Value b) const;
  mlir::Value isLess(mlir::Value a, mlir::Value b) const;
  mlir::Value select(mlir::Value c, mlir::Value a, mlir::Value b) const;
  mlir::Value wide(mlir::Value a) const; // i32 to i64
  mlir::Value bitcast(mlir::Type to, mlir::Value v) const;
  mlir::Value extract(mlir::Value vector, int64_t i) const;
  mlir::Value member(mlir::Value aggregate, int64_t i) const;
  /// An aggregate of that type.
  mlir::Value pack(mlir::Type type, mlir::ValueRange members) const;
  mlir::Value zero(mlir::Type type) const;
};

/// A block in shared memory, of rows of whole pieces. Which piece of a row lies
/// where depends on the row, so that neither pieces of neighbouring rows nor of
/// one row meet in a bank: of P pieces, piece c of row r is at place
/// c xor (r / (8 / P) mod P).
struct SharedBlock {
  mlir::Value base;   // pointer
  mlir::Value offset; // bytes, of row 0
  int64_t rowBytes;

  int64_t pieces() const { return rowBytes / kPieceBytes; }
  /// The address of a piece in row `row` + `below`.
  mlir::Value at(Emit emit, mlir::Value row, int64_t below,
                 mlir::Value piece) const;
};

/// What a wave computes: rows of both blocks, and their element.
struct WaveShape {
  int64_t rows, cols;
  mlir::FloatType element;
};

/// One way to multiply. Sums of a wave lie in the registers of its lanes, as a
/// value that loops carry.
class WaveProducts {
public:
  virtual ~WaveProducts() = default;

  /// Why it cannot do that shape; empty if it can.
  virtual std::string whyNot() const { return ""; }
  virtual mlir::Type sumsType(mlir::MLIRContext *context) const = 0;
  /// Sums of +0.
  virtual mlir::Value start(Emit emit) const;
  /// Pieces of rows that multiply() takes at a time.
  virtual int64_t pieces() const { return 1; }
  /// Whether a stage's slices stand one after the other, or in a loop.
  virtual bool unrolls() const { return true; }
  /// The sums after the products of a slice, in ascending order.
  virtual mlir::Value multiply(Emit emit, mlir::Value sums, SharedBlock a,
                               SharedBlock b, mlir::Value lane,
                               mlir::Value piece) const = 0;

  /// Element i of a lane is at (row, col) of the wave's part, beyond an origin
  /// that the lane has.
  struct Place {
    int64_t row, col;
  };
  virtual llvm::SmallVector<Place> places() const = 0;
  virtual std::pair<mlir::Value, mlir::Value>
  origin(Emit emit, mlir::Value lane) const = 0;
  /// In the order of places().
  virtual llvm::SmallVector<mlir::Value> elements(Emit emit,
                                                  mlir::Value sums) const = 0;
  /// Elements that follow each other in a row, at even columns.
  virtual int64_t run() const { return 1; }
};

/// A chain of fma on the vector unit: a wave of lanes side by side, each with
/// every so many rows and columns.
std::unique_ptr<WaveProducts> vectorProducts(WaveShape shape, int64_t wave);

/// The two f32 in a word of bf16, which is their upper half.
mlir::Value widenBf16(Emit emit, mlir::Value word, bool upper);

} // namespace bitpact::lowering

#endif
