// ObjectCode.h - LLVM dialect to PTX and cubin
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_OBJECTCODE_H
#define BITPACT_CODEGEN_NVPTX_OBJECTCODE_H

#include "codegen/Target/Target.h"

namespace bitpact::codegen {

/// Compiles a module of the LLVM and NVVM dialects for one architecture.
/// Kernels carry `nvvm.kernel`. Serialisation messages of ptxas (C7510 to
/// C7517) are errors, spills stand in the resources; a missing ptxas is an
/// error that says how to get one.
mlir::FailureOr<CompiledCode> compileCuda(mlir::ModuleOp module,
                                          llvm::StringRef arch,
                                          const CompileOptions &options = {});

/// The first half: PTX text.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module,
                                     llvm::StringRef arch);

/// Whether the module has nothing that only some architectures have. Such of
/// sm_80 and sm_90a are the same text but for the name, which is made once for
/// both.
bool isCommon(mlir::ModuleOp module);

} // namespace bitpact::codegen

#endif
