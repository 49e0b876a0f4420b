// EntryPoint.h - the function that a launch calls, and its loop over programs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_ENTRYPOINT_H
#define BITPACT_CODEGEN_CPU_ENTRYPOINT_H

#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace bitpact::codegen {

/// `void symbol(const uint64_t *slots, int64_t begin, int64_t end)` with a loop
/// over the programs [begin, end).
struct EntryPoint {
  mlir::LLVM::LLVMFuncOp function;
  mlir::scf::ForOp programs;
  /// What stood for the arguments: a pointer or i64 each.
  llvm::SmallVector<mlir::Value> slots;
};

/// Makes it before the builder's operation; `arguments` are those of the
/// kernel, which are replaced by what the slots hold.
EntryPoint makeEntryPoint(mlir::OpBuilder &builder, mlir::Location loc,
                          llvm::StringRef symbol, mlir::Block &body);

} // namespace bitpact::codegen

#endif
