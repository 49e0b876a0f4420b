// TileLowering.h - a contract and a tile schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILELOWERING_H
#define BITPACT_CODEGEN_LOWERING_TILELOWERING_H

#include "codegen/Lowering/TilePlan.h"

namespace bitpact::lowering {

/// Appends a kernel named `symbol` to `into`. For a schedule for which
/// `whyNot` says nothing.
tile::FuncOp lowerTiles(pact::ContractOp contract, pact::OperatorOp op,
                        tile::ScheduleAttr schedule, llvm::StringRef symbol,
                        mlir::ModuleOp into);

} // namespace bitpact::lowering

#endif
