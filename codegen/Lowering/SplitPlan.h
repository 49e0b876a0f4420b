// SplitPlan.h - reductions cut over programs, and chains over registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_SPLITPLAN_H
#define BITPACT_CODEGEN_LOWERING_SPLITPLAN_H

#include "codegen/Lowering/RowPlan.h"

namespace bitpact::lowering {

/// Parts that the merging kernel reads before it merges them.
inline constexpr int64_t kPartsAtOnce = 16;

/// Gives the outermost merge to several programs, of which each has at least
/// `elements` elements where the merge lets it. The error says why not.
llvm::Error cutOutermost(NodePlan &plan, int64_t elements);

/// Cuts a chain over the last digit into steps of `unroll` elements, which
/// are read together.
void cutChain(NodePlan &plan, int64_t unroll);

/// Rows of a lane that one access to the narrowest tensor has.
int64_t rowPackOf(pact::ContractOp contract, kernel::ScheduleAttr schedule);

/// The plan for rows that are no whole packs: their elements are loaded one by
/// one, so that a `rowPack`th of the steps has as many loads under way.
NodePlan planOfBrokenPacks(const NodePlan &plan, int64_t rowPack);

/// Over how many programs the plan cuts a row.
kernel::SplitAttr splitOf(mlir::MLIRContext *context, const NodePlan &plan,
                          const RowFamily &family);

/// What is left to do for the kernel that merges the parts of `plan`: its
/// elements are the parts.
NodePlan planOfMerge(const NodePlan &plan);

/// Digits with blocks between offsets are the first of the partition and the
/// last of the merges, of kernels with whole rows in a lane.
llvm::Error checkOffsets(const algebra::Partition &partition,
                         const std::vector<algebra::BoundMerge> &merges,
                         kernel::ScheduleAttr schedule);

/// Whether only inputs that nothing but `offsets` uses have the dim.
bool isOffsetsDim(pact::ContractOp contract, pact::OperatorOp op,
                  llvm::StringRef dim);

} // namespace bitpact::lowering

#endif
