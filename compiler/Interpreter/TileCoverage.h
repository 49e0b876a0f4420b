// TileCoverage.h - that every element of the outputs is written, and where twice
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TILECOVERAGE_H
#define BITPACT_COMPILER_INTERPRETER_TILECOVERAGE_H

#include "compiler/Interpreter/TileMachine.h"

#include "llvm/ADT/BitVector.h"

namespace bitpact::interpreter {

class TileCoverage {
public:
  /// Notes the elements of a window that are within the extents. One that is
  /// outside of the tensor is an error, as is one that was written before, unless
  /// a block that was moved back from the end of the tensor has it too: what is
  /// put is compared with the contract each time.
  mlir::LogicalResult add(tile::PutOp op, const Window &to);
  /// An element that was never written is an error at the kernel.
  mlir::LogicalResult finish(tile::FuncOp func,
                             const std::map<std::string, Buffer> &buffers);

private:
  std::map<const Buffer *, llvm::BitVector> written;
};

} // namespace bitpact::interpreter

#endif
