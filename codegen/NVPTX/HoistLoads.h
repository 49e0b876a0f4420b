// HoistLoads.h - loads of a lane are issued together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_HOISTLOADS_H
#define BITPACT_CODEGEN_NVPTX_HOISTLOADS_H

#include "mlir/Pass/Pass.h"

namespace bitpact::codegen {

/// `hoist-loads`: in the LLVM dialect, few loads in a block of what no launch
/// writes are issued one after the other, before anything waits for the first.
/// Neither LLVM nor ptxas moves them across arithmetic.
std::unique_ptr<mlir::Pass> createHoistLoadsPass();

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_HOISTLOADS_H
