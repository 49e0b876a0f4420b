// TreeAim.h - positions at which the trees of two contracts differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_TREEAIM_H
#define BITPACT_DIFF_TREEAIM_H

#include "contracts/diff/ContractPair.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace bitpact::diff {

/// A node whose trees differ, for one extent.
struct TreeAim {
  int node = 0, dim = 0;
  algebra::ReductionKind kind = algebra::ReductionKind::Sum;
  /// Pairs of positions whose lowest common ancestors cover different elements
  /// in the two trees: a large value at one and its negative at the other
  /// swallow different elements. At most `manyPairs`, near ones first.
  std::vector<std::pair<int64_t, int64_t>> pairs;
  static constexpr size_t manyPairs = 48;
};

/// Elements of the dim that exist for node `number` in a contract.
int64_t existingExtent(const reference::OperatorProgram &program, int number,
                       int64_t extent);

/// Nodes with another partition, merge order, start, state or extent.
std::vector<int> changedNodes(const ContractPair &pair);

/// Do the trees of this node differ at this extent of its dim?
bool treesDiffer(const ContractPair &pair, int node, int64_t extent);

/// Aims at every changed node, for these extents of all dims. Where no pair is
/// found, for instance since only a start differs, `pairs` holds neighbours.
std::vector<TreeAim> aimAtTrees(const ContractPair &pair,
                                const std::vector<int64_t> &extents);

/// Extents of the dims that both contracts leave open and reduce: the smallest
/// at which trees differ, then larger ones. Other dims have their
/// fixed extent, or 1.
std::vector<std::vector<int64_t>> extentsToTry(const ContractPair &pair);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_TREEAIM_H
