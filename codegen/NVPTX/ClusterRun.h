// ClusterRun.h - what CTAs of a program bring to each other, thread by thread
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_CLUSTERRUN_H
#define BITPACT_CODEGEN_NVPTX_CLUSTERRUN_H

#include "codegen/Target/Lint.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace bitpact::codegen {

/// One launch of a kernel, of whose clusters the first is run.
struct ClusterLaunch {
  llvm::SmallVector<int64_t> arguments; ///< of pointers any address
  int64_t clusters = 1;
};

/// Rule L13: all threads of a cluster are run, in one order of those that there
/// are, without the values of tensors. A finding is a thread that waits for
/// ever; bytes that a barrier was told of and that do not come, or the other
/// way round; a CTA that is used before it has begun or after it has ended;
/// what is written over before it has been taken, or taken before it was
/// brought, or by another thread or for another block than it was brought for;
/// and what other CTAs did where a barrier does not show it.
std::vector<LintFinding> lintCluster(mlir::LLVM::LLVMFuncOp kernel,
                                     llvm::ArrayRef<ClusterLaunch> launches);

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_CLUSTERRUN_H
