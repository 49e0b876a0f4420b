// Tensors.h - tensors of bytes as the buffers of a launch, and back
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TENSORS_H
#define BITPACT_COMPILER_INTERPRETER_TENSORS_H

#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/Machine.h"

namespace bitpact::interpreter {

/// A buffer for each tensor, an output where it has no bytes. `alignment`:
/// bytes of which the rows of a tensor start at multiples. An error, at `op`,
/// where bytes and shape do not fit.
mlir::FailureOr<std::map<std::string, Buffer>>
buffersOf(mlir::Operation *op, const Tensors &tensors,
          llvm::function_ref<int64_t(const std::string &tensor)> alignment);

/// What the buffers of outputs hold.
Tensors outputsOf(const Tensors &tensors,
                  const std::map<std::string, Buffer> &buffers);

} // namespace bitpact::interpreter

#endif // BITPACT_COMPILER_INTERPRETER_TENSORS_H
