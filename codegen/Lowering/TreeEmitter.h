// TreeEmitter.h - the merge tree of one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TREEEMITTER_H
#define BITPACT_CODEGEN_LOWERING_TREEEMITTER_H

#include "codegen/Lowering/ElementEmitter.h"
#include "codegen/Lowering/MergeTree.h"

namespace bitpact::lowering {

/// Parts of one value, which meet by addition or maximum in the accumulator's
/// format. A part without any element is realised as the neutral value (−0 for
/// sums, −Inf for max), which merges without changing a bit.
class ValueTree : public MergeTree {
public:
  mlir::Value neutral() { return nothing()[0]; }

protected:
  ValueTree(RowContext &context, ElementEmitter &elements,
            pact::ReduceOp reduce, const NodePlan &plan, size_t base);

  Part enter(const SubDigit &sub, const Part &part) override;
  Part merge(const SubDigit &sub, const Part &left, const Part &right,
             Sides exist) override;
  Part nothing() override;
  bool asksForSides(const SubDigit &sub) override;

  bool isMax() { return reduce.getKind() == pact::ReduceKind::Max; }
  mlir::Value quantize(mlir::Value value, algebra::Format format);
  bool rounds(algebra::Format format);
  mlir::FloatType floatType(algebra::Format format) const;

  ElementEmitter &elements;
  pact::ReduceOp reduce;
  pact::NodeAttr node;
  mlir::FloatType accumulator;
};

/// A tree whose leaves are chains of elements.
class TreeEmitter : public ValueTree {
public:
  TreeEmitter(RowContext &context, ElementEmitter &elements,
              pact::ReduceOp reduce, const NodePlan &plan);

  using Values = llvm::SmallVector<mlir::Value>;

  /// The result of the node, the same in all lanes of a row; of a split, what
  /// this program's part of it gives. One for each row of a lane.
  Values emit();

  /// The elements of each block go on top of its accumulator, in the order of
  /// the first `levels` sub-digits.
  Values visit(size_t levels, const Instances &batch, mlir::ValueRange carried);
  /// What an accumulator holds before the first element of its block.
  mlir::Value initial(const Instance &block);
  /// The maximum against which an exp_sum weighs the elements that follow, if
  /// it is not the node's second operand.
  void weighAgainst(mlir::Value running) { maximum = running; }

private:
  Parts leaves(const Instances &batch) override;
  /// The digit may be cut at offsets, which are then read.
  Instances blocksAt(const Instances &batch, const SubDigit &sub,
                     mlir::Value value) override;
  Parts foldLoop(size_t level, const Instances &batch) override;
  /// A chain over elements that all exist, as many as there are.
  Values countedChain(size_t levels, const Instances &batch,
                      mlir::ValueRange carried);
  Parts readParts(const Instances &batch);
  Parts foldParts(size_t level, const Instances &batch);
  void readAhead(const Instances &batch);
  mlir::Value step(const Instance &instance, mlir::Value accumulator);

  mlir::Value maximum;
};

} // namespace bitpact::lowering

#endif
