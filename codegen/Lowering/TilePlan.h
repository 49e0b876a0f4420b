// TilePlan.h - what of an operator a tile kernel computes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEPLAN_H
#define BITPACT_CODEGEN_LOWERING_TILEPLAN_H

#include "dialects/Kernel/Tiles.h"
#include "dialects/Pact/Pact.h"
#include "llvm/Support/Error.h"

namespace bitpact::lowering {

/// How elements beyond the depth change no sum: as zeros, as products of -0, or
/// by steps that do not happen.
enum class Absent { Zero, Negative, LeftOut };

/// What is exact for a step. Zeros for `dot.nv`, whose steps give +0 for any
/// sum that is zero; -0 for an fma, since no sum can tell it. A step of
/// `dot.cdna3` turns a sum of -0 into +0, with whatever zeros.
Absent absentOf(llvm::StringRef step);

/// An operator whose nodes are products of matrices, rows of `a` with rows of
/// each of `b`, and whose output is made of their sums element by element.
struct TileFamily {
  llvm::SmallVector<pact::ReduceOp> dots;
  std::string a; // tensors
  llvm::SmallVector<std::string> b;
  std::string rowDim, colDim, depthDim;
  /// Where each row has its own matrix of every `b`: how they are cut.
  struct Segments {
    std::string offsets;          ///< the tensor
    std::string boundDim, stackDim; ///< of offsets, and of matrices
  };
  std::optional<Segments> segments;
  /// Other inputs: matrices like the result, and vectors along its rows or its
  /// columns.
  llvm::SmallVector<pact::InputOp> others;
  pact::OutputOp output;
  Absent absent = Absent::Zero;
};

/// Blocks are numbered in 32 bits, so that a dim has so many elements at most.
inline constexpr int64_t kMostTileRows = int64_t(1) << 22,
                         kMostTileDepth = (int64_t(1) << 31) - 1024;

/// The error says why the operator is not of such products.
llvm::Expected<TileFamily> tileFamily(pact::OperatorOp op);

/// The name of the step of a node.
llvm::StringRef stepOf(pact::ContractOp contract, pact::ReduceOp node);
/// The atom that is the step of a node; null if its step is a primitive.
pact::AtomOp atomOf(pact::ContractOp contract, pact::ReduceOp node);
/// The primitive that is the step of a node; null if its step is an atom.
pact::PrimitiveOp primitiveOf(pact::ContractOp contract, pact::ReduceOp node);

/// Why `schedule` cannot keep the contract: a sentence naming the field.
/// Nothing if it can.
std::optional<std::string> whyNot(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  tile::ScheduleAttr schedule);

} // namespace bitpact::lowering

#endif
