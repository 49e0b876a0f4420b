// Interpreter.h - a kernel run on the CPU: on numbers, and on trees
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_INTERPRETER_H
#define BITPACT_COMPILER_INTERPRETER_INTERPRETER_H

#include "contracts/algebra/Tree.h"
#include "contracts/reference/Tensor.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Pact/Pact.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::interpreter {

class CasePool;

using Tensors = std::map<std::string, reference::Tensor>;
using Dims = std::map<std::string, int64_t>;

/// Runs all programs of a launch on numbers; a launch may be several kernels,
/// one after the other. `tensors` has every tensor of the
/// kernel, an output as format and shape without bytes. Gives the outputs.
/// An access outside of a tensor, scratch that is read before it is written,
/// an exchange that leaves its subgroup and an output element that is written
/// twice or never are errors that name the operation and the lane.
/// `fault`, if given, becomes whether a kernel has set the fault word.
mlir::FailureOr<Tensors> interpretNumbers(llvm::ArrayRef<kernel::FuncOp> steps,
                                          const Tensors &tensors,
                                          const Dims &dims,
                                          bool *fault = nullptr);

/// One reduction of one row: what the contract declares and what the kernel
/// does, in one store, so that equal trees have equal ids.
struct NodeTree {
  std::string node;
  int64_t row;
  std::shared_ptr<algebra::TreeStore> store;
  algebra::TreeId declared;
  /// Nothing where the kernel's value is no tree over the elements.
  std::optional<algebra::TreeId> computed;
};

struct TreeReport {
  std::vector<NodeTree> trees;
  /// One sentence for every output element that is not what the contract
  /// declares, up to a few.
  std::vector<std::string> differences;
  bool equal() const { return differences.empty(); }
};

/// The error of a kernel with that name and schedule whose trees differ: always
/// a failure.
mlir::LogicalResult reportBroken(mlir::Operation *func, llvm::StringRef name,
                                 const std::string &schedule,
                                 const TreeReport &report);

/// Runs all programs of a launch of `rows` rows on symbols and compares every
/// output element with what the contract declares, bits for bits on every
/// input: the trees of its nodes, roundings, primitives and elementwise
/// operations. `extent` is that of the reduced dim as it is stored. `offsets`
/// cut it where the contract says @offsets; empty: a single block. Elements of
/// index tensors are `indices`, again and again; empty: the last position.
mlir::FailureOr<TreeReport> interpretTrees(pact::ContractOp contract,
                                           pact::OperatorOp op,
                                           llvm::ArrayRef<kernel::FuncOp> steps,
                                           int64_t extent, int64_t rows = 1,
                                           std::vector<int64_t> offsets = {},
                                           std::vector<int64_t> indices = {});

/// The extents that decide: the contract's own, or with `*` those around each
/// boundary of a digit, up to `most`.
std::vector<int64_t> decisiveExtents(pact::ContractOp contract,
                                     pact::OperatorOp op, int64_t most);

/// Proves on trees that the kernels keep the contract, for a row of every
/// decisive extent up to `most`, and where lanes have several rows for some of
/// those too. A longer row that the contract states is proved with rounds of
/// its loops left out, or whole up to 2^18 elements. What differs is an error
/// at the kernel that says where. Proofs of a contract's other schedules may
/// share a pool.
mlir::LogicalResult proveSchedule(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  llvm::ArrayRef<kernel::FuncOp> steps,
                                  int64_t most = 4096,
                                  CasePool *pool = nullptr);

} // namespace bitpact::interpreter

#endif
