// ConvertKernel.h - distributed kernels to ROCDL
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_AMDGPU_CONVERTKERNEL_H
#define BITPACT_CODEGEN_AMDGPU_CONVERTKERNEL_H

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"

namespace bitpact::codegen {

/// `convert-kernel-to-rocdl`: kernels whose lanes are threads become
/// `llvm.func` with `rocdl.kernel`, tile kernels with the matrix instructions
/// of `arch`. arith and scf stay.
std::unique_ptr<mlir::Pass>
createConvertKernelToROCDLPass(llvm::StringRef arch = "");

} // namespace bitpact::codegen

#endif
