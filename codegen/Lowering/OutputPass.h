// OutputPass.h - stores the outputs that have the reduced dim
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_OUTPUTPASS_H
#define BITPACT_CODEGEN_LOWERING_OUTPUTPASS_H

#include "codegen/Lowering/ElementEmitter.h"

namespace bitpact::lowering {

/// Stores the outputs that have the reduced dim.
class OutputPass {
public:
  OutputPass(RowContext &context, ElementEmitter &elements,
             llvm::ArrayRef<pact::OutputOp> outputs)
      : context(context), elements(elements), outputs(outputs) {}

  /// In the order of a plan, whose elements may be in registers.
  void run(const NodePlan &plan) { run(plan, context.wholeRow(plan)); }

  /// Neighbouring lanes on neighbouring elements: nothing has to be reordered
  /// for a register. Elements are absent only in the last step.
  void runAcross();

private:
  void run(const NodePlan &plan, const Instance &from);
  void write(const NodePlan &plan, llvm::ArrayRef<Instance> group);

  RowContext &context;
  ElementEmitter &elements;
  llvm::ArrayRef<pact::OutputOp> outputs;
};

/// Asks for all elements of a row at its beginning, those too that are needed
/// only once the reductions are done: one wait for memory instead of two. Only
/// where registers keep them.
void loadAhead(RowContext &context, const NodePlan &plan, pact::OperatorOp op);

} // namespace bitpact::lowering

#endif
