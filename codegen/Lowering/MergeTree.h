// MergeTree.h - how complete parts of a node meet
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_MERGETREE_H
#define BITPACT_CODEGEN_LOWERING_MERGETREE_H

#include "codegen/Lowering/RowContext.h"

namespace bitpact::lowering {

/// What a block of elements has been reduced to: one value, or those of a
/// state. Nothing where the block is known to be empty.
using Part = llvm::SmallVector<mlir::Value, 2>;
using Parts = llvm::SmallVector<Part>;
using Instances = llvm::SmallVector<Instance>;

/// Walks a range of a plan's sub-digits, outermost first, and merges parts
/// through loops, registers and lanes. What a part is, where the innermost
/// ones come from and how two of them meet is said by a derived class.
class MergeTree {
public:
  /// `base`: the number of sub-digits below the leaves.
  MergeTree(RowContext &context, const NodePlan &plan, size_t base)
      : context(context), plan(plan), base(base) {}
  virtual ~MergeTree() = default;

  /// Parts of the first `levels` sub-digits for each block.
  Parts parts(size_t levels, const Instances &batch);

protected:
  /// Lane masks that say which side has an element; null where it has.
  struct Sides {
    mlir::Value left, right;
  };

  virtual Parts leaves(const Instances &batch) = 0;
  /// Blocks of a digit that a loop or a program chooses.
  virtual Instances blocksAt(const Instances &batch, const SubDigit &sub,
                             mlir::Value value);
  virtual Parts foldLoop(size_t level, const Instances &batch);
  virtual Part enter(const SubDigit &sub, const Part &part) = 0;
  virtual Part merge(const SubDigit &sub, const Part &left, const Part &right,
                     Sides exist) = 0;
  /// Stands for a part without elements.
  virtual Part nothing() = 0;
  /// Whether `merge` needs to be told that a side is empty. If not, `nothing`
  /// merges without changing a bit.
  virtual bool asksForSides(const SubDigit &sub) = 0;
  /// Whether it matters to `merge` which side is the left one. Such merges are
  /// more than one operation.
  virtual bool isOrdered() const { return false; }

  RowContext &context;
  const NodePlan &plan;

  /// `right` is the block of the right part.
  Part join(const SubDigit &sub, const Part &left, const Part &right,
            const Instance &rightBlock, Sides exist = {});

private:
  Parts unrolled(size_t level, const Instances &batch);
  Parts acrossLanes(size_t level, const Instances &batch);
  Part exchanged(const SubDigit &sub, const Part &part, const Instance &block,
                 int64_t distance);
  Part acrossSubgroups(const SubDigit &sub, const Part &part,
                       const Instance &block);
  Parts pairwiseLoop(size_t level, const Instances &batch);
  Parts halvingLoop(size_t level, const Instances &batch);
  /// Scratch for each value of a part.
  Part cells(int64_t size);
  void poke(const Part &cells, const Part &part, mlir::Value index);
  Part peek(const Part &cells, mlir::Value index);

  size_t base;
};

/// All values of the parts, one part after the other, and back again.
llvm::SmallVector<mlir::Value> flatten(const Parts &parts);
Parts regroup(mlir::ValueRange values, size_t each);

} // namespace bitpact::lowering

#endif
