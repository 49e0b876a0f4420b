// TileSums.h - trees of the sums of tile kernels, against a contract's dot
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_TILESUMS_H
#define BITPACT_COMPILER_INTERPRETER_TILESUMS_H

#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/TileMachine.h"
#include "contracts/algebra/TreeBuilder.h"

namespace bitpact::interpreter {

/// Reads the contract and its operator, and nothing of how they are lowered.
class TileSums {
public:
  TileSums(pact::ContractOp contract, pact::ReduceOp reduce, const Dims &dims,
           const std::map<std::string, Buffer> &buffers, TermStore &terms)
      : contract(contract), reduce(reduce), dims(dims), buffers(buffers),
        terms(terms) {}

  /// The contract's tree. An error at the kernel says why there is none.
  mlir::LogicalResult declare(tile::FuncOp func);

  /// Sums are those of this element of the dot from here on, by dim.
  void setElement(const std::map<std::string, int64_t> &indices);
  /// Whether a matrix that the element takes is not there: its sum is NaN.
  bool isAbsent() const { return absent; }
  /// The tree of element (row, col) of sums.
  algebra::TreeId treeOf(const TileValues &values, int64_t row, int64_t col);
  /// What the contract's tree is as a term: chains are holes, which meet and are
  /// rounded.
  using HoleOf = llvm::function_ref<TermId(algebra::TreeId)>;
  TermId declaredTerm(HoleOf holeOf) const { return termOf(declared, holeOf); }
  /// Whether the tree is one of the chains of which the contract's is made.
  bool isDeclared(algebra::TreeId tree) const;
  /// Where a tree is not the contract's; `where` names the element.
  std::string difference(algebra::TreeId found, const std::string &where) const;

  /// Whether the products take rows of the contract's two tensors from where
  /// the block is put, so that `text` says all that trees depend on.
  bool describe(const TileValues &values, const Window &to,
                std::string &text) const;

  /// Whether sums are of the contract's two tensors; those of another node are
  /// not.
  bool areOwn(const TileValues &values) const;

  llvm::StringRef node() const { return reduce.getNode(); }

  algebra::TreeId declared = 0;
  Scalar accumulator = Scalar::F32;
  std::shared_ptr<algebra::TreeStore> store =
      std::make_shared<algebra::TreeStore>();

private:
  /// An element of a tensor; a null buffer is a zero beyond an extent.
  using Element = std::pair<const Buffer *, int64_t>;
  using Pair = std::pair<Element, Element>;

  const Buffer &operand(int number) const { return *wants[number].buffer; }
  /// Of a stack the matrix that a row of the result takes; -1 if it has none.
  int64_t matrixOf(int operand, int64_t row) const;
  TermId termOf(algebra::TreeId tree, HoleOf holeOf) const;
  std::vector<algebra::TreeId> chains() const;
  int64_t leafOf(const Pair &pair);
  std::optional<algebra::TreeId> chainOf(std::optional<algebra::TreeId> sum,
                                         const TileProduct &product,
                                         int64_t row, int64_t col);
  bool isStep(tile::ChainOp chain);
  Element wanted(int operand, int64_t k) const;

  pact::ContractOp contract;
  mutable pact::ReduceOp reduce;
  const Dims &dims;
  const std::map<std::string, Buffer> &buffers;
  TermStore &terms;
  llvm::DenseMap<mlir::Operation *, bool> steps;
  mutable pact::InputOp operands[2];
  /// What of an operand that is a stack is taken.
  mutable pact::TakeOp takes[2];
  bool absent = false;
  int64_t extent = 0;
  /// Elements of an operand that the element of the dot is made of: the first,
  /// and from one position to the next.
  struct Wanted {
    const Buffer *buffer = nullptr;
    int64_t first = 0, step = 0;
  } wants[2];
  std::map<Pair, int64_t> foreign;
  std::optional<std::string> firstForeign;
};

} // namespace bitpact::interpreter

#endif
