// TileParts.h - sums whose parts are complete before they meet
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEPARTS_H
#define BITPACT_CODEGEN_LOWERING_TILEPARTS_H

#include "contracts/algebra/Format.h"
#include "dialects/Pact/Pact.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <vector>

namespace bitpact::lowering {

/// Elements of one chain, or two of these that merge. In one order, left before
/// right, every element is visited once.
struct PartTree {
  /// Of a chain.
  int64_t first = 0, end = 0;
  std::unique_ptr<PartTree> left, right;
  /// Of the value, one after the other; formats that the accumulator's values do
  /// not all fit.
  std::vector<algebra::Format> roundings;

  bool isChain() const { return !left; }
};

/// The tree of parts of a node over so many elements: one chain if no digit is
/// merged by anything else.
PartTree partsOf(pact::NodeAttr node, int64_t extent);

/// The chains, in the order in which they are visited.
std::vector<const PartTree *> chainsOf(const PartTree &tree);

/// Bits of the tree's value: the accumulator's or those of what rounds it.
unsigned bitsOf(const PartTree &tree, unsigned accumulator);

/// Parts of the first sum and the bits of its accumulator. Nothing where the
/// contract leaves the extent open, or stages of so many elements refuse it.
struct FixedParts {
  PartTree tree;
  unsigned accumulator;
};
std::optional<FixedParts> fixedParts(pact::ContractOp contract,
                                     pact::OperatorOp op, int64_t stage);

/// Bits of a value of each slot, the accumulator's or those of the narrow format
/// to which it is rounded. While the right side of a merge is computed, the left
/// one is held: in slot n where it is the right side of n others.
std::vector<unsigned> slotBits(const PartTree &tree, unsigned accumulator);
/// Those of the operator's one node, of which so many units have their parts; none
/// where its parts cannot be computed.
std::vector<unsigned> slotBits(pact::ContractOp contract, pact::OperatorOp op,
                               int64_t units = 1, int64_t stage = 1);

/// The error names what of the node's parts no tile schedule computes; `stage`
/// elements are taken at a time.
llvm::Error checkParts(llvm::StringRef node, pact::NodeAttr attr,
                       mlir::IntegerAttr extent, int64_t stage);

} // namespace bitpact::lowering

#endif
