// ElementEmitter.h - values of an operator, at elements and of rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ELEMENTEMITTER_H
#define BITPACT_CODEGEN_LOWERING_ELEMENTEMITTER_H

#include "codegen/Lowering/ElementArithmetic.h"
#include "codegen/Lowering/RowContext.h"

namespace bitpact::lowering {

/// Emits values of the operator's body as lane vectors.
class ElementEmitter : public ElementArithmetic {
public:
  explicit ElementEmitter(RowContext &context);

  /// The value at an element (`instance` set) or of a row (`instance` null).
  /// Its type is a lane vector of the value's format.
  mlir::Value value(mlir::Value f, const NodePlan *plan,
                    const Instance *instance);
  /// The same, converted exactly to `format`.
  mlir::Value valueAs(mlir::Value f, mlir::FloatType format,
                      const NodePlan *plan, const Instance *instance);
  /// The weight of an exp_sum's element against `maximum`, or if that is null
  /// against the node's second operand.
  mlir::Value weight(pact::ReduceOp reduce, mlir::Value maximum,
                     const NodePlan &plan, const Instance &instance);
  /// Tensors with the reduced dim from which an element is computed.
  llvm::SmallVector<llvm::StringRef> tensorsOf(mlir::Value f);
  /// What an output stores: rounded at its site, NaN canonical.
  mlir::Value output(pact::OutputOp output, const NodePlan *plan,
                     const Instance *instance);

  /// Binds the result of a node, once it has been reduced, to what it is after
  /// the rounding of its site.
  void bindNode(mlir::Value f, mlir::Value value);

  bool hasNode(mlir::Value f) const { return nodes.contains({f, 0u}); }

private:
  mlir::Value compute(mlir::Operation *op, const NodePlan *plan,
                      const Instance *instance);
  mlir::Value take(pact::TakeOp op);
  mlir::Type typeOf(mlir::Type element) override;
  mlir::Value constant(mlir::TypedAttr value) override;
  mlir::Value extentAs(pact::ExtentOp extent, mlir::FloatType format) override;

  RowContext &context;
  /// Of each of a lane's rows.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> nodes;
  /// A single position that an index gives.
  NodePlan taken;
};

} // namespace bitpact::lowering

#endif
