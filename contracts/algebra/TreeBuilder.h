// TreeBuilder.h - the tree that a partition and a merge order declare
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_TREEBUILDER_H
#define BITPACT_ALGEBRA_TREEBUILDER_H

#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/Partition.h"
#include "contracts/algebra/Tree.h"

#include <optional>
#include <vector>

namespace bitpact::algebra {

/// Everything of one node that shapes its tree.
struct Reduction {
  Partition partition;
  MergeOrder order;
  ReductionKind kind = ReductionKind::Sum;
  Start start = Start::Identity;
  Format accumulator = Format::F32;
  State state = State::None;

  /// Throws RuleError unless the texts fit each other.
  void validate() const { order.validate(partition, kind, start, state); }
};

/// Which elements take part; with an empty mask all of [0, extent) do.
struct Elements {
  int64_t extent = 0;
  std::vector<bool> present{};
  std::vector<int64_t> offsets{};
};

/// The declared tree, or nothing when no element is present. Throws RuleError
/// for texts that break a rule and std::invalid_argument for offsets or a mask
/// that do not fit the extent.
std::optional<TreeId> buildTree(TreeStore &store, const Reduction &reduction,
                                const Elements &elements);

/// The first of `elements` on which the two reductions have different trees.
/// None: the two texts are equivalent there.
std::optional<Elements> firstDifference(const Reduction &a, const Reduction &b,
                                        const std::vector<Elements> &elements);

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_TREEBUILDER_H
