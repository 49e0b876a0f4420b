// Steps.h - the kernels of one launch, one after the other
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_STEPS_H
#define BITPACT_COMPILER_INTERPRETER_STEPS_H

#include "compiler/Interpreter/Machine.h"

namespace bitpact::interpreter {

/// Groups of rows of one kernel, and programs that share each of them.
int64_t programsOf(kernel::FuncOp func,
                   const std::map<std::string, int64_t> &dims);
int64_t partsOf(kernel::FuncOp func,
                const std::map<std::string, int64_t> &dims);

/// Runs the kernels of one launch, one after the other, with a workspace where
/// they have one. In the end every output is complete. `fault`, if given,
/// becomes whether one has set the fault word. `isSilent`: nobody hears what
/// went wrong.
mlir::LogicalResult runSteps(llvm::ArrayRef<kernel::FuncOp> steps,
                             TermStore &terms,
                             std::map<std::string, Buffer> &buffers,
                             const std::map<std::string, int64_t> &dims,
                             bool *fault = nullptr,
                             const WholePrimitives &whole = {},
                             LeftOut *leftOut = nullptr, bool isSilent = false);

/// The widest alignment that any of the kernels asks of a tensor.
int64_t alignmentOf(llvm::ArrayRef<kernel::FuncOp> steps,
                    llvm::StringRef tensor);

} // namespace bitpact::interpreter

#endif
