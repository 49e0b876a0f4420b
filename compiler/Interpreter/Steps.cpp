// Steps.cpp - the kernels of one launch, one after the other
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Steps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

static int64_t rowsOf(kernel::FuncOp func,
                      const std::map<std::string, int64_t> &dims) {
  auto rows = dims.find(func.getRows().str());
  return rows == dims.end() ? 1 : rows->second;
}

int64_t interpreter::partsOf(kernel::FuncOp func,
                             const std::map<std::string, int64_t> &dims) {
  kernel::SplitAttr split = func.getSplitAttr();
  if (!split)
    return 1;
  if (split.getDim().empty())
    return split.getLength();
  return llvm::divideCeilSigned(dims.at(split.getDim().str()) - split.getLess(),
                                split.getLength());
}

int64_t interpreter::programsOf(kernel::FuncOp func,
                                const std::map<std::string, int64_t> &dims) {
  return llvm::divideCeilSigned(rowsOf(func, dims),
                                func.getSchedule().rowsPerProgram());
}

int64_t interpreter::alignmentOf(ArrayRef<kernel::FuncOp> steps,
                                 StringRef tensor) {
  int64_t align = 1;
  for (kernel::FuncOp step : steps)
    if (auto access = step.getAccessAttr())
      if (auto bytes = access.getAs<IntegerAttr>(tensor))
        align = std::max(align, bytes.getInt());
  return align;
}

LogicalResult interpreter::runSteps(ArrayRef<kernel::FuncOp> steps,
                                    TermStore &terms,
                                    std::map<std::string, Buffer> &buffers,
                                    const std::map<std::string, int64_t> &dims,
                                    bool *fault, const WholePrimitives &whole,
                                    LeftOut *leftOut, bool isSilent) {
  if (fault)
    *fault = false;
  constexpr const char *name = "workspace";
  for (kernel::FuncOp step : steps) {
    FailureOr<Code> code = encode(step, whole);
    if (failed(code))
      return failure();
    // The first kernel writes the workspace, those after it read.
    if (BlockArgument slot = step.slot(name)) {
      auto [at, isNew] = buffers.try_emplace(name);
      Buffer &workspace = at->second;
      workspace.isOutput = isNew;
      if (isNew) {
        workspace.name = name;
        workspace.type = *scalarOf(
            cast<kernel::BufferType>(slot.getType()).getElementType());
        workspace.shape = {rowsOf(step, dims) * partsOf(step, dims)};
        workspace.strides = {1};
        workspace.cells.resize(size_t(workspace.shape[0]));
      }
    }
    Machine machine(step, *code, terms, buffers, dims, leftOut, isSilent);
    if (failed(machine.run()))
      return failure();
    if (fault)
      *fault |= machine.hasFault();
  }
  buffers.erase(name);
  for (const auto &[tensor, buffer] : buffers)
    for (auto [i, cell] : llvm::enumerate(buffer.cells)) {
      if (!buffer.isOutput || !cell.isUnspecified())
        continue;
      if (!isSilent)
        kernel::FuncOp(steps.back()).emitError()
            << "element " << i << " of output '" << tensor
            << "' was never written";
      return failure();
    }
  return success();
}
