// ObjectCode.h - LLVM dialect to a shared object for a CPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_OBJECTCODE_H
#define BITPACT_CODEGEN_CPU_OBJECTCODE_H

#include "codegen/Target/Target.h"

namespace bitpact::codegen {

/// Compiles a module of the LLVM dialect for one of the targets that
/// Targets.cpp names.
/// Functions with external linkage are exported; the object needs no library
/// and no symbol.
mlir::FailureOr<CompiledCode> compileCpu(mlir::ModuleOp module,
                                         llvm::StringRef arch,
                                         const CompileOptions &options = {});

} // namespace bitpact::codegen

#endif
