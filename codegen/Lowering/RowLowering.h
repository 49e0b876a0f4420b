// RowLowering.h - a contract and a schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_ROWLOWERING_H
#define BITPACT_CODEGEN_LOWERING_ROWLOWERING_H

#include "codegen/Lowering/RowPlan.h"

namespace bitpact::lowering {

/// Why `schedule` cannot keep the contract: a sentence naming the field.
/// Nothing if it can.
std::optional<std::string> whyNot(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  kernel::ScheduleAttr schedule);

/// Appends a `kernel.func` named `symbol` to `into`. For a schedule for which
/// `whyNot` says nothing; fails only on a broken invariant.
mlir::FailureOr<kernel::FuncOp> lowerRows(pact::ContractOp contract,
                                          pact::OperatorOp op,
                                          kernel::ScheduleAttr schedule,
                                          llvm::StringRef symbol,
                                          mlir::ModuleOp into);

} // namespace bitpact::lowering

#endif
