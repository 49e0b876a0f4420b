// Counting.h - the tree of a sum of terms of either sign, by counting units
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_COUNTING_H
#define BITPACT_EVIDENCE_REVEAL_COUNTING_H

#include "tools/evidence/reveal/Masks.h"
#include "tools/evidence/reveal/RevealedTree.h"

#include <random>

namespace bitpact::reveal {

/// +M at one position, -M at another, units at the rest: units that meet M
/// before it is cancelled vanish, so the sum counts those outside the subtree
/// at which the two positions meet. Everything follows from these numbers.
class Counting {
public:
  Counting(Questions &questions, const Masks &masks)
      : questions(questions), masks(masks) {}

  /// The tree of these leaves, all others being zero. All against one, then
  /// within each group of those that meet it at the same vertex. One batch a
  /// depth of the recursion; between n - 1 and n * n / 2 counts. Throws
  /// Undetermined if the numbers fit no tree.
  RevealedTree recursive(std::vector<int64_t> positions);

  /// Every pair, and nothing inferred from one about another.
  RevealedTree allPairs();

  /// The leaves of the vertex at which each pair meets, counted among `within`,
  /// which holds both.
  using Positions = std::shared_ptr<const std::vector<int64_t>>;
  std::vector<int64_t>
  leavesAt(const std::vector<std::pair<int64_t, int64_t>> &pairs,
           const Positions &within);

private:
  struct Question {
    size_t task;
    int64_t i, j;
  };
  struct Task {
    std::vector<int64_t> positions;
    /// A leaf beside them, hidden exactly if a pair meets above them; -1 at the
    /// root.
    int64_t witness = -1;
    int64_t pivot = 0;
    bool anyPivot = false;
    /// Groups that meet the pivot, innermost first, and those that are no part
    /// of the pivot's subtree, as tasks.
    std::vector<size_t> groups;
    std::optional<size_t> beside;
  };
  std::vector<int64_t> count(const std::vector<Question> &asked,
                             const std::vector<Positions> &withinOf);
  void choosePivot(Task &task);
  void divide(size_t task, const std::vector<int64_t> &leaves);
  RevealedTree assemble() const;

  Questions &questions;
  Masks masks;
  std::vector<Task> tasks;
  std::mt19937_64 random{1};
  bool orderFree = false;
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_COUNTING_H
