// Tree.h - explicit reduction trees, equal exactly if their ids are equal
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_TREE_H
#define BITPACT_ALGEBRA_TREE_H

#include "contracts/algebra/Format.h"
#include "contracts/algebra/MergeOrder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace bitpact::algebra {

using TreeId = int32_t;

enum class TreeKind : uint8_t {
  Identity, ///< +0 for sums, −Inf for max
  Leaf,     ///< the element at a position
  First,    ///< an accumulator seeded by a leaf: (leaf)
  Step,     ///< the step primitive: (accumulator, leaf)
  Fused,    ///< one atom step: (accumulator, leaf…), the leaves unordered
  Merge,    ///< merge of two complete partials, commutative
  Any,      ///< merge of a set of partials in an order left open
  Round,    ///< rounding to `format`: (partial)
  Bound,    ///< the maximum of the elements in `ranges`
  Weight,   ///< an element's weight under a maximum: (leaf, bound)
  Rescale,  ///< a partial under another maximum: (partial, bound, bound)
  Combine   ///< two states meet: (left, right, left's bound, right's, both's)
};

struct TreeNode {
  TreeKind kind;
  Format format = Format::F32; ///< of Round
  int64_t position = -1;       ///< of Leaf
  Atom atom{};                 ///< of Fused
  /// Of Bound: begin and end of every run of positions, ascending.
  std::vector<int64_t> ranges{};
  std::vector<TreeId> children{}; ///< in the order first written
};

/// Hash-consed nodes. Two trees in one store are equal up to swapping the
/// operands of a merge and permuting inside a fused set if and only if their
/// ids are equal. A node's children have smaller ids than the node, so one
/// ascending pass evaluates any tree.
class TreeStore {
public:
  TreeId identity();
  TreeId leaf(int64_t position);
  TreeId first(TreeId leaf);
  TreeId step(TreeId accumulator, TreeId leaf);
  TreeId fused(const Atom &atom, TreeId accumulator,
               const std::vector<TreeId> &leaves);
  TreeId merge(TreeId a, TreeId b);
  /// Nested sets become one set; a set of one is its member.
  TreeId any(const std::vector<TreeId> &parts);
  /// Rounding what was already rounded to a format inside `format` is that.
  TreeId round(Format format, TreeId part);
  /// The maximum of what `bound` covers, if given, and of these positions.
  TreeId bound(std::optional<TreeId> bound,
               const std::vector<int64_t> &positions);
  TreeId weight(TreeId leaf, TreeId bound);
  TreeId rescale(TreeId part, TreeId before, TreeId after);
  /// The operands stay in their order: a combine need not be commutative.
  TreeId combine(TreeId left, TreeId leftBound, TreeId right, TreeId rightBound,
                 TreeId bound);

  const TreeNode &node(TreeId id) const { return nodes[id]; }
  int64_t size() const { return static_cast<int64_t>(nodes.size()); }

  /// Positions of the leaves, ascending.
  std::vector<int64_t> leaves(TreeId root) const;

  /// One line: `chain(id, x0, x1)`, `(a + b)`, `fused(id; x0 x1)`,
  /// `bf16(a)`, `any(a, b)`; a chain seeded by x0 is `chain(x0, x1)`. Weights
  /// are written as their elements, `carry(a)` is rescaled, `(a ⊕ b)` combined.
  std::string expression(TreeId root) const;

  /// The tree over several lines, one merge a line, for people.
  std::string draw(TreeId root) const;

private:
  TreeId intern(TreeNode node);

  std::vector<TreeNode> nodes;
  std::unordered_multimap<size_t, TreeId> index;
};

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_TREE_H
