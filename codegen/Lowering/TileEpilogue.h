// TileEpilogue.h - what an operator does with the sums of a tile kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEEPILOGUE_H
#define BITPACT_CODEGEN_LOWERING_TILEEPILOGUE_H

#include "codegen/Lowering/ElementArithmetic.h"
#include "codegen/Lowering/TilePlan.h"

namespace bitpact::lowering {

/// Arithmetic on one element at a time.
class ScalarArithmetic : public ElementArithmetic {
public:
  using ElementArithmetic::ElementArithmetic;

private:
  mlir::Type typeOf(mlir::Type element) override { return element; }
  mlir::Value constant(mlir::TypedAttr value) override;
  mlir::Value extentAs(pact::ExtentOp extent, mlir::FloatType format) override;
};

/// Emits the arithmetic of one element of the output, from its sums and the
/// elements of other tensors.
class TileEpilogue : public ScalarArithmetic {
public:
  /// `elements`: the sums of the family's `dots`, then one of each of its
  /// `others`.
  TileEpilogue(mlir::OpBuilder &builder, mlir::Location loc,
               pact::ContractOp contract, const TileFamily &family,
               mlir::ValueRange elements);

  /// What the output stores.
  mlir::Value output(pact::OutputOp output);

private:
  mlir::Value value(mlir::Value f);
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace bitpact::lowering

#endif
