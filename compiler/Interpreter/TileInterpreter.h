// TileInterpreter.h - a tile kernel run on the CPU: on numbers, and on trees
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TILEINTERPRETER_H
#define BITPACT_COMPILER_INTERPRETER_TILEINTERPRETER_H

#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Kernel/Tiles.h"

namespace bitpact::interpreter {

/// Runs a launch of so many programs on numbers; otherwise as for kernels of
/// rows. The step of an atom is contracts/reference/DotAtom: an instruction's
/// arithmetic has one executable definition, which was compared with hardware,
/// and a second one would be another guess at it. What this proves is all that
/// surrounds the step: which elements meet in which order, and every other
/// operation, in the interpreter's own arithmetic. `fault`, if given, becomes
/// whether a program has set the fault word.
mlir::FailureOr<Tensors> interpretNumbers(tile::FuncOp func,
                                          const Tensors &tensors,
                                          const Dims &dims, int64_t programs,
                                          bool *fault = nullptr);

/// Runs a launch on symbols and compares the outputs with what the contract
/// declares: the tree of the sum, and every operation after it. Elements of a
/// block are compared at its corners within the extents; see TileTrees.cpp for
/// why that is all of them. That each element of the outputs is written once is
/// checked for all. `offsets` are what the tensor of a segment holds; where they
/// are bad the contract declares NaN, and that the fault word is set.
mlir::FailureOr<TreeReport> interpretTrees(pact::ContractOp contract,
                                           pact::OperatorOp op,
                                           tile::FuncOp func, const Dims &dims,
                                           int64_t programs,
                                           const std::vector<int64_t> &offsets
                                           = {});

/// Proves on trees that the kernel keeps the contract, at the contract's own
/// depth up to `most` and at extents that decide; TileProof.cpp says which and
/// why. What differs is an error at the kernel that says where.
mlir::LogicalResult proveSchedule(pact::ContractOp contract,
                                  pact::OperatorOp op, tile::FuncOp func,
                                  int64_t most = 4096);

} // namespace bitpact::interpreter

#endif
