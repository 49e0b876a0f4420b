// StateRun.h - the steps of states whose maximum runs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_STATERUN_H
#define BITPACT_CODEGEN_LOWERING_STATERUN_H

#include "codegen/Lowering/TreeEmitter.h"

namespace bitpact::lowering {

/// Visits the carry entries of a few blocks, each of which has a maximum of its
/// own and an accumulator for each value of the digits between the carry and
/// the merges of states. Accumulators are values, or cells of scratch where one
/// of those digits is a loop.
class StateRun {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  StateRun(RowContext &context, ElementEmitter &elements, pact::ReduceOp reduce,
           const NodePlan &plan, const Instances &blocks);

  void run();
  mlir::Value maximum(size_t block) const { return maxima[block]; }
  /// The accumulator that a block of one slot belongs to; null if it has none.
  mlir::Value accumulator(size_t block, const Instance &slot);

private:
  /// Whether a step is the first one: not, for certain, or where `when` holds.
  struct First {
    bool possible = true;
    mlir::Value when;
  };
  struct Load {
    std::string tensor;
    Instance element;
  };

  First onlyIf(First outer, mlir::Value begins);
  Values carry(size_t level, const Instances &at, mlir::ValueRange carried,
               First first);
  Values carryWhole(const Instances &at, mlir::ValueRange carried, First first);
  Values step(const Instances &at, mlir::ValueRange carried, First first);
  /// The maximum of the elements of a step, in each lane of the block.
  mlir::Value maximumOf(const Instance &block);
  mlir::Value maximumOf(llvm::ArrayRef<const SubDigit *> digits,
                        const Instances &batch);
  mlir::Value maximumAcrossLanes(mlir::Value value);
  mlir::Value maximumOf(mlir::Value a, mlir::Value b);
  mlir::Value least();

  /// What a step changes of accumulators: `old` is rescaled, then the step's
  /// elements go on top.
  Values advance(const Instances &slots, const Instance &at, mlir::Value factor,
                 mlir::ValueRange old, First first);
  /// Calls `body` with groups of slots, inside of loops where there are some.
  void eachSlot(const Instance &block,
                llvm::function_ref<void(const Instances &)> body);
  void eachSlot(size_t level, const Instances &batch,
                llvm::function_ref<void(const Instances &)> body);
  Instance onStep(const Instance &slot, const Instance &at) const;
  mlir::Value initial(const Instance &slot);
  bool chains() const { return plan.chainLength() == plan.carry; }
  std::vector<Load> loadsOfStep(const SubDigit &outer);

  RowContext &context;
  ElementEmitter &elements;
  pact::ReduceOp reduce;
  const NodePlan &plan;
  Instances blocks;
  TreeEmitter tree;
  mlir::FloatType format; // of the maximum
  Values maxima;
  std::vector<Values> held;    // by block and slot, or
  llvm::SmallVector<Part> cells; // by block
};

} // namespace bitpact::lowering

#endif
