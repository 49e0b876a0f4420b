// Tensors.cpp - tensors of bytes as the buffers of a launch, and back
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Tensors.h"

#include <cstring>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

FailureOr<std::map<std::string, Buffer>> interpreter::buffersOf(
    Operation *op, const Tensors &tensors,
    llvm::function_ref<int64_t(const std::string &tensor)> alignment) {
  std::map<std::string, Buffer> buffers;
  for (const auto &[name, tensor] : tensors) {
    Buffer &buffer = buffers[name];
    buffer.name = name;
    buffer.type = scalarOf(tensor.format);
    buffer.shape = tensor.shape;
    buffer.strides =
        paddedStrides(tensor.shape, buffer.type, alignment(name));
    int64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= extent;
    buffer.cells.resize(size_t(count));
    buffer.isOutput = tensor.bytes.empty();
    size_t bytes = algebra::bytes(tensor.format);
    if (!buffer.isOutput && tensor.bytes.size() != size_t(count) * bytes)
      return op->emitError()
             << "tensor '" << name << "' has " << tensor.bytes.size()
             << " bytes for " << count << " elements";
    for (int64_t i = 0; i < count && !buffer.isOutput; ++i) {
      buffer.cells[i] = Cell::of(0);
      std::memcpy(&buffer.cells[i].bits, &tensor.bytes[i * bytes], bytes);
    }
  }
  return buffers;
}

Tensors
interpreter::outputsOf(const Tensors &tensors,
                       const std::map<std::string, Buffer> &buffers) {
  Tensors outputs;
  for (const auto &[name, buffer] : buffers) {
    if (!buffer.isOutput)
      continue;
    reference::Tensor &tensor = outputs[name] = tensors.at(name);
    size_t bytes = algebra::bytes(tensor.format);
    tensor.bytes.resize(buffer.cells.size() * bytes);
    for (auto [i, cell] : llvm::enumerate(buffer.cells))
      std::memcpy(&tensor.bytes[i * bytes], &cell.bits, bytes);
  }
  return outputs;
}
