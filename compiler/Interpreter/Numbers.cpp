// Numbers.cpp - a kernel run on bit patterns
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Steps.h"
#include "compiler/Interpreter/Tensors.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

FailureOr<Tensors>
interpreter::interpretNumbers(ArrayRef<kernel::FuncOp> steps,
                              const Tensors &tensors, const Dims &dims,
                              bool *fault) {
  auto buffers =
      buffersOf(steps.front(), tensors, [&](const std::string &tensor) {
        return alignmentOf(steps, tensor);
      });
  if (failed(buffers))
    return failure();
  TermStore terms;
  if (failed(runSteps(steps, terms, *buffers, dims, fault)))
    return failure();
  return outputsOf(tensors, *buffers);
}
