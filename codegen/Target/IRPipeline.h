// IRPipeline.h - LLVM dialect to checked, optimised LLVM IR, for every target
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_IRPIPELINE_H
#define BITPACT_CODEGEN_TARGET_IRPIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bitpact::codegen {

/// Function attributes such as prefer-vector-width.
using FunctionAttributes = std::vector<std::pair<std::string, std::string>>;

/// Target options under which code generation keeps every rounding: no
/// contraction, nothing unsafe, IEEE subnormals.
llvm::TargetOptions exactTargetOptions();

/// A machine for a triple, with these options, -O3 code generation and PIC.
mlir::FailureOr<std::unique_ptr<llvm::TargetMachine>>
createMachine(mlir::Location location, llvm::StringRef triple,
              llvm::StringRef cpu, llvm::StringRef features);

/// Translates, lints (L1, L2), optimises and lints again. Optimising is safe:
/// LLVM treats an operation without fast-math flags as the one IEEE operation
/// it names, in the default environment, and no pass turns an fmul and an
/// fadd into an fma. What it may choose freely, the payload of a NaN, is
/// canonical before it is stored (rule E2).
mlir::FailureOr<std::unique_ptr<llvm::Module>>
lowerToIR(mlir::ModuleOp module, llvm::LLVMContext &context,
          llvm::TargetMachine &machine,
          const FunctionAttributes &attributes = {});

/// Code generation changes the module and ends its use.
mlir::FailureOr<std::string> emitAssembly(mlir::Location location,
                                          std::unique_ptr<llvm::Module> module,
                                          llvm::TargetMachine &machine);

} // namespace bitpact::codegen

#endif
