// ElementEmitter.h - elementwise part of an operator, rounded at its sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ELEMENTEMITTER_H
#define BITPACT_CODEGEN_LOWERING_ELEMENTEMITTER_H

#include "codegen/Lowering/RowContext.h"

namespace bitpact::lowering {

/// Emits values of the operator's body. Rule E1: one IEEE operation in the
/// widest of the operands' formats and f32, then the rounding of the site.
class ElementEmitter {
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

  /// Binds the result of a node, once it has been reduced.
  void bindNode(mlir::Value f, mlir::Value value) {
    nodes[{f, unsigned(context.currentColumn())}] = value;
  }

  bool hasNode(mlir::Value f) const { return nodes.contains({f, 0u}); }

  /// Inlines a primitive.
  mlir::Value apply(pact::PrimitiveOp primitive, mlir::ValueRange arguments);
  pact::PrimitiveOp primitiveAt(llvm::StringRef site);

  /// One rounding to `format`; exact if the value is narrower already.
  mlir::Value convert(mlir::Value value, mlir::FloatType format);

private:
  mlir::Value compute(mlir::Operation *op, const NodePlan *plan,
                      const Instance *instance);
  mlir::Value product(mlir::Operation *op, const NodePlan *plan,
                      const Instance *instance);
  mlir::Value take(pact::TakeOp op);
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::FloatType formatOf(mlir::Value f, const NodePlan *plan,
                           const Instance *instance);
  pact::RoundingAttr rounding(llvm::StringRef site);

  RowContext &context;
  /// Of each of a lane's rows.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> nodes;
  /// A single position that an index gives.
  NodePlan taken;
};

} // namespace bitpact::lowering

#endif
