// TreeEmitter.h - the merge tree of one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TREEEMITTER_H
#define BITPACT_CODEGEN_LOWERING_TREEEMITTER_H

#include "codegen/Lowering/ElementEmitter.h"

namespace bitpact::lowering {

/// Emits one reduction. A part without any element is realised as the neutral
/// value (−0 for sums, −Inf for max), which merges without changing a bit, or
/// as a null value where it is known to be empty.
class TreeEmitter {
public:
  TreeEmitter(RowContext &context, ElementEmitter &elements,
              pact::ReduceOp reduce, const NodePlan &plan);

  using Values = llvm::SmallVector<mlir::Value>;

  /// The result of the node, the same in all lanes of a row; of a split, what
  /// this program's part of it gives. One for each row of a lane.
  Values emit();

private:
  using Instances = llvm::SmallVector<Instance>;

  /// Partials of the first `levels` sub-digits for each instance.
  Values partials(size_t levels, const Instances &batch);
  Values accumulate(const Instances &batch);
  /// A chain over elements that all exist, as many as there are.
  Values countedChain(size_t levels, const Instances &batch,
                      mlir::ValueRange carried);
  Values readParts(const Instances &batch);
  Values foldParts(size_t level, const Instances &batch);
  void readAhead(const Instances &batch);
  Values visit(size_t levels, const Instances &batch, mlir::ValueRange carried);
  Values unrolled(size_t level, const Instances &batch);
  Values acrossLanes(size_t level, const Instances &batch);
  Values foldLoop(size_t level, const Instances &batch);
  Values pairwiseLoop(size_t level, const Instances &batch);
  Values halvingLoop(size_t level, const Instances &batch);

  mlir::Value step(const Instance &instance, mlir::Value accumulator);
  mlir::Value initial(const Instance &block);
  mlir::Value neutral();
  mlir::Value enter(const SubDigit &sub, mlir::Value part);
  /// `right` is the block of the right part.
  mlir::Value merge(const SubDigit &sub, mlir::Value left, mlir::Value right,
                    const Instance *rightBlock, mlir::Value leftExists = {});
  Instance at(const Instance &block, const SubDigit &sub, int64_t value) const;
  Instance at(const Instance &block, const SubDigit &sub,
              mlir::Value value) const;
  /// The same, where the digit may be cut at offsets, which are then read.
  Instances blocksAt(const Instances &batch, const SubDigit &sub,
                     mlir::Value value);
  mlir::Value quantize(mlir::Value value, algebra::Format format);
  mlir::FloatType floatType(algebra::Format format) const;

  RowContext &context;
  ElementEmitter &elements;
  pact::ReduceOp reduce;
  const NodePlan &plan;
  pact::NodeAttr node;
  mlir::FloatType accumulator;
};

} // namespace bitpact::lowering

#endif
