// RowLowering.h - a contract and a schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ROWLOWERING_H
#define BITPACT_CODEGEN_LOWERING_ROWLOWERING_H

#include "codegen/Lowering/RowPlan.h"

#include <string>

namespace bitpact::lowering {

/// Why `schedule` cannot keep the contract: a sentence naming the field.
/// Nothing if it can.
std::optional<std::string> whyNot(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  kernel::ScheduleAttr schedule);

/// Appends the kernels of one launch to `into`, in order: one named `symbol`,
/// and for a split `symbol`_merge. For a schedule for which `whyNot` says
/// nothing; fails only on a broken invariant.
mlir::FailureOr<llvm::SmallVector<kernel::FuncOp>>
lowerRows(pact::ContractOp contract, pact::OperatorOp op,
          kernel::ScheduleAttr schedule, llvm::StringRef symbol,
          mlir::ModuleOp into);

/// Over how many programs the schedule cuts a row; null if it does not.
kernel::SplitAttr splitOf(pact::ContractOp contract, pact::OperatorOp op,
                          kernel::ScheduleAttr schedule);

/// Bytes of workspace that the kernels need, as a formula over the dims.
std::string workspaceOf(pact::ContractOp contract, pact::OperatorOp op,
                        kernel::ScheduleAttr schedule);

} // namespace bitpact::lowering

#endif
