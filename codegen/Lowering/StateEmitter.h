// StateEmitter.h - a maximum and an exp_sum that run together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_STATEEMITTER_H
#define BITPACT_CODEGEN_LOWERING_STATEEMITTER_H

#include "codegen/Lowering/TreeEmitter.h"

namespace bitpact::lowering {

/// Emits an online exp_sum. A part is a state: its running maximum, and the sum
/// of weights against it. This class merges states; `StateRun` makes them.
class StateEmitter : private MergeTree {
public:
  StateEmitter(RowContext &context, ElementEmitter &elements,
               pact::ReduceOp reduce, const NodePlan &plan);

  struct State {
    mlir::Value maximum, sum;
  };
  /// The state of the row, the same in all lanes of it.
  State emit();

private:
  Parts leaves(const Instances &batch) override;
  Part enter(const SubDigit &sub, const Part &part) override;
  Part merge(const SubDigit &sub, const Part &left, const Part &right,
             Sides exist) override;
  Part nothing() override;
  bool asksForSides(const SubDigit &) override { return true; }
  bool isOrdered() const override { return true; }

  ElementEmitter &elements;
  pact::ReduceOp reduce;
  /// Merges the sums of accumulators that share a maximum.
  class Accumulators;
  std::shared_ptr<Accumulators> accumulators;
};

} // namespace bitpact::lowering

#endif
