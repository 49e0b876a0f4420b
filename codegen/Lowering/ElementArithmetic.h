// ElementArithmetic.h - operations of an operator's body, rounded at sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ELEMENTARITHMETIC_H
#define BITPACT_CODEGEN_LOWERING_ELEMENTARITHMETIC_H

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Pact/Pact.h"
#include "mlir/IR/Builders.h"

namespace bitpact::lowering {

/// Emits single operations of the operator's body. Rule E1: one IEEE operation
/// in the widest of the operands' formats and f32, then the rounding of the
/// site. Whether a value is a scalar or lanes of them is the derived class's
/// affair.
class ElementArithmetic {
public:
  ElementArithmetic(mlir::OpBuilder &builder, mlir::Location loc,
                    pact::ContractOp contract)
      : builder(builder), loc(loc), contract(contract) {}
  virtual ~ElementArithmetic() = default;

  /// Inlines a primitive.
  mlir::Value apply(pact::PrimitiveOp primitive, mlir::ValueRange arguments);
  pact::PrimitiveOp primitiveAt(llvm::StringRef site);

  /// One rounding to `format`; exact if the value is narrower already.
  mlir::Value convert(mlir::Value value, mlir::FloatType format);

protected:
  /// The value of an operand that is neither a constant nor an extent nor an
  /// exact product.
  using Operands = llvm::function_ref<mlir::Value(mlir::Value f)>;

  /// The value of a param, a function or an operation.
  mlir::Value compute(mlir::Operation *op, Operands operands);
  /// `value` after the rounding of the operation's site, if it has one.
  mlir::Value rounded(mlir::Operation *op, mlir::Value value);
  /// An operand, converted to `format`.
  mlir::Value operandAs(mlir::Value f, mlir::FloatType format,
                        Operands operands);
  /// What an output stores: rounded at its site, NaN canonical.
  mlir::Value outputOf(pact::OutputOp output, Operands operands);

  virtual mlir::Type typeOf(mlir::Type element) = 0;
  virtual mlir::Value constant(mlir::TypedAttr value) = 0;
  virtual mlir::Value extentAs(pact::ExtentOp extent,
                               mlir::FloatType format) = 0;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  pact::ContractOp contract;

private:
  mlir::Value operation(mlir::Operation *op, Operands operands);
  mlir::Value product(mlir::Operation *op, Operands operands);
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::FloatType formatOf(mlir::Value f, Operands operands);
  pact::RoundingAttr rounding(llvm::StringRef site);
  pact::MulOp exactProduct(mlir::Value f);
};

} // namespace bitpact::lowering

#endif
