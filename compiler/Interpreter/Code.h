// Code.h - a kernel with its values numbered, as the machine runs it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_CODE_H
#define BITPACT_COMPILER_INTERPRETER_CODE_H

#include "compiler/Interpreter/Whole.h"
#include "dialects/Kernel/KernelDialect.h"

#include <vector>

namespace bitpact::interpreter {

/// Where a value lives: one cell, or one a lane.
struct Place {
  uint32_t first = 0;
  uint32_t count = 0;
  Scalar type = Scalar::I64;
  /// The cell that lane `lane` sees.
  uint32_t of(uint32_t lane) const { return count == 1 ? first : first + lane; }
};

enum class Form : uint8_t {
  Compute,
  Whole, ///< operations that are a primitive; they are its only block
  Broadcast,
  Program,
  Part,
  Lane,
  Load,
  Read,
  Store,
  Fault,
  Scratch,
  Peek,
  Poke,
  Exchange,
  Gather,
  For,
  While,
  If
};

struct Block;

struct Instruction {
  Form form;
  mlir::Operation *op;
  Action action{};
  std::vector<Place> operands, results;
  /// Of Load and Store: the slot number of the buffer. Of Scratch, Peek and
  /// Poke: the number of the scratch. Of Whole: that of the primitive.
  unsigned memory = 0;
  std::vector<Block> blocks;
};

struct Block {
  std::vector<Place> arguments;
  std::vector<Instruction> instructions;
  /// Operands of the terminator.
  std::vector<Place> yielded;
};

struct Constant {
  Place place;
  std::vector<uint64_t> bits; ///< one, or one a lane
};

struct Code {
  int64_t lanes = 1, subgroup = 1;
  uint32_t cells = 0;
  std::vector<Constant> constants;
  std::vector<int64_t> scratchSizes; ///< in values
  std::vector<uint32_t> scratchWidths;
  Block body;
};

/// An operation that the interpreter does not know is an error at it. What is
/// one of `whole`, operation by operation, becomes one instruction.
mlir::FailureOr<Code> encode(kernel::FuncOp func, const WholePrimitives &whole);

} // namespace bitpact::interpreter

#endif
