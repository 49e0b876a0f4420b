// ConvertKernel.h - kernels to functions whose lanes are vector elements
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_CONVERTKERNEL_H
#define BITPACT_CODEGEN_CPU_CONVERTKERNEL_H

#include "mlir/Pass/Pass.h"

namespace bitpact::codegen {

/// `convert-kernel-to-cpu`: each kernel becomes
/// `void symbol(const uint64_t *slots, int64_t begin, int64_t end)`, which runs
/// the programs [begin, end). arith and scf stay.
std::unique_ptr<mlir::Pass> createConvertKernelToCPUPass();

} // namespace bitpact::codegen

#endif
