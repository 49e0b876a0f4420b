// ObjectCode.h - LLVM dialect to an hsaco
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_AMDGPU_OBJECTCODE_H
#define BITPACT_CODEGEN_AMDGPU_OBJECTCODE_H

#include "codegen/Target/Target.h"

namespace bitpact::codegen {

/// Code objects of version 5 load with ROCm 5, 6 and 7; later ones do not.
inline constexpr unsigned kCodeObjectVersion = 5;

/// Compiles a module of the LLVM and ROCDL dialects for one architecture, in
/// waves of 64, for any setting of xnack and sramecc. Kernels carry
/// `rocdl.kernel`. Needs no ROCm installation: LLVM's own code generation,
/// linked by lld. The same input gives the same bytes.
mlir::FailureOr<CompiledCode> compileHip(mlir::ModuleOp module,
                                         llvm::StringRef arch);

} // namespace bitpact::codegen

#endif
