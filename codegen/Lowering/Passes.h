// Passes.h - passes from kernels towards the LLVM dialect, shared by targets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_PASSES_H
#define BITPACT_CODEGEN_LOWERING_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace bitpact::lowering {

/// `lower-rows`: a kernel for every contract with a `kernel.schedule`.
std::unique_ptr<mlir::Pass> createLowerRowsPass();

/// `kernel-distribute`: one thread a lane; drops the lane dimension.
std::unique_ptr<mlir::Pass> createDistributePass();

/// `kernel-expand-narrow`: roundings become integer operations, or a
/// truncation of the target where that is known to be the same. `keepBf16`
/// leaves f32 to bf16 and the widening of bf16 to the target's instructions.
std::unique_ptr<mlir::Pass> createExpandNarrowPass(bool keepBf16);

/// The same on everything inside of `root`.
void expandRoundings(mlir::Operation *root, bool keepBf16);

/// Appends the way from arith, scf and vector to the LLVM dialect.
void addToLLVMPasses(mlir::OpPassManager &manager);

void registerLoweringPasses();

} // namespace bitpact::lowering

#endif
