// ObjectCode.h - LLVM dialect to an x86-64 shared object
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_OBJECTCODE_H
#define BITPACT_CODEGEN_CPU_OBJECTCODE_H

#include "codegen/Target/Target.h"

namespace bitpact::codegen {

/// Compiles a module of the LLVM dialect for x86-64-v3 or x86-64-v4.
/// Functions with external linkage are exported; the object needs no library
/// and no symbol.
mlir::FailureOr<CompiledCode> compileCpu(mlir::ModuleOp module,
                                         llvm::StringRef arch,
                                         const CompileOptions &options = {});

} // namespace bitpact::codegen

#endif
