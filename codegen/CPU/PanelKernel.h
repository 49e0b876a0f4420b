// PanelKernel.h - tile kernels to functions that pack and multiply panels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_PANELKERNEL_H
#define BITPACT_CODEGEN_CPU_PANELKERNEL_H

#include "dialects/Kernel/Tiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace bitpact::codegen {

/// Converts one `tile.func` without roles. A block lies in scratch as panels:
/// element (r, k) of a panel of so many rows is at k * rows + r, so that what a
/// step needs lies side by side. Sums lie in scratch as tiles of panel_rows by
/// panel_cols; between stages they are there as they are, and a product of two
/// panels has them in registers. Rows and columns of vectors beyond an extent
/// hold whatever is at hand, and are not put.
class PanelKernel {
public:
  explicit PanelKernel(tile::FuncOp func)
      : func(func), schedule(func.getSchedule()), builder(func),
        loc(func.getLoc()) {}

  mlir::LogicalResult convert();

  /// What a step of an atom does: dot.nv(terms,fraction), or dot.cdna3.
  struct Unit {
    int64_t terms, fraction;
    bool isAmd;
  };
  /// Nothing for an atom that has no code here.
  static std::optional<Unit> unitOf(llvm::StringRef atom);
  /// An element as an atom's step wants it.
  struct Operand {
    mlir::Value significand, exponent;
  };

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  struct Matrix {
    Value data, rows, cols;
    Value stride; ///< of rows; null for a vector
    bool alongRows;
    mlir::Type element;
    Value apart; ///< matrices of a stack, else null
  };
  struct Panels {
    Value data;      ///< elements, or their significands
    Value exponents; ///< of operands of an atom, else null
    Value rows, cols;
    int64_t height;
    mlir::Type element;
    int64_t step = 1; ///< elements that an atom takes
  };

  //--- structure ---------------------------------------------------------===//
  mlir::LogicalResult convert(mlir::Operation *op);
  Value i64(int64_t value);
  Value i32(int64_t value);
  Value constant(mlir::Type type, mlir::Attribute value);
  /// Of every element of a vector, or of the scalar.
  Value integer(mlir::Type type, uint64_t value);
  Value real(mlir::Type type, double value);
  mlir::Type lanesOf(mlir::Type element) const;
  Value wide(Value index);
  template <typename Op> Value binary(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) { return binary<mlir::LLVM::AddOp>(a, b); }
  Value mul(Value a, Value b) { return binary<mlir::LLVM::MulOp>(a, b); }
  Value least(Value a, Value b) { return binary<mlir::LLVM::SMinOp>(a, b); }
  Value blocks(Value count, int64_t length);
  Value at(Value base, mlir::Type element, Value index);
  Value load(mlir::Type type, Value from);
  void store(Value value, Value to);
  Value splat(Value scalar);
  Value shuffle(Value a, Value b, llvm::ArrayRef<int32_t> mask);
  /// Memory of the function, outside of the loop over programs.
  Value scratch(mlir::Type element, int64_t count);
  Values loop(Value from, Value to, int64_t step, mlir::ValueRange carried,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  void loop(Value from, Value to, int64_t step,
            llvm::function_ref<void(Value)> body);
  /// A region of scalar operations, on vectors.
  Value inlined(mlir::Block &body, mlir::ValueRange arguments);

  //--- panels ------------------------------------------------------------===//
  mlir::LogicalResult pack(tile::PackOp op);
  void packPanel(const Matrix &from, const Panels &to, Value base, Value row,
                 Value panel, Value data, Value exponents, int64_t group);
  Value widen(Value elements, mlir::Type from, mlir::Type to);
  Values transpose(Values rows);
  Operand split(Value elements, mlir::Type format);
  int64_t depthOf(tile::PackOp op) { return op.getType().getCols(); }

  //--- sums --------------------------------------------------------------===//
  /// Rows of a block that are packed, from its first on.
  Value rowsOf(tile::PackOp op);
  void offset(tile::OffsetOp op);
  void fault(tile::FaultOp op);
  void begin(tile::BeginOp op);
  mlir::LogicalResult chain(tile::ChainOp op);
  void hold(tile::HoldOp op);
  Value placeOf(mlir::Type type, Value row, Value col);
  mlir::LogicalResult put(tile::PutOp op);
  /// The vector of elements of values at a row and a column of a block.
  Value valuesAt(Value values, Value row, Value col);
  Value loadedAt(tile::LoadOp op, Value row, Value col);
  /// Every pair of panels that holds an element of the result.
  void forEachTile(const Panels &a, const Panels &b, int64_t rows,
                   mlir::Type sum, Value sums,
                   llvm::function_ref<void(Value a, Value b, Value tile)> body);
  /// Begins at a multiple of the panel's height.
  Value panelAt(const Panels &panels, Value base, Value number, int64_t depth,
                mlir::Type element);

  //--- parts (PanelParts.cpp) ---------------------------------------------===//
  void findParts(mlir::Block *inner);
  /// Of a loop that calls what another becomes.
  bool isLaterPart(mlir::Operation *op) const;
  void shareParts();

  //--- atoms (PanelAtoms.cpp) ---------------------------------------------===//
  mlir::LogicalResult dot(tile::DotOp op);

  tile::FuncOp func;
  tile::ScheduleAttr schedule;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp target;
  Value program;
  llvm::DenseMap<Value, Matrix> views;
  llvm::DenseMap<Value, Panels> packed;
  /// The sums that were begun last: where they are, how many rows and columns
  /// of them there are, and what they are once they are complete.
  struct Begun {
    Value sums, rows, cols;
    mlir::Type type;
    Value awaited;
  } begun;
  llvm::DenseMap<Value, Value> held; ///< where its slot is
  llvm::DenseMap<std::pair<int64_t, mlir::Type>, Value> slots;
  llvm::SmallVector<mlir::Operation *> done;
  /// Loops with products, two or more that do the same.
  llvm::SmallVector<llvm::SmallVector<mlir::scf::ForOp>> parts;
};

} // namespace bitpact::codegen

#endif
