// Equivalence.h - do two texts of a reduction mean one tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_EQUIVALENCE_H
#define BITPACT_DIFF_EQUIVALENCE_H

#include "contracts/diff/NormalForm.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::diff {

/// The extents for which trees must be equal, and what may be absent.
struct Extents {
  /// Ascending; empty where any extent from 1 on is allowed.
  std::vector<int64_t> fixed{};
  /// D leaves out elements in a way that this page does not know: then trees of
  /// all elements prove nothing.
  bool masked = false;
};

struct Decision {
  enum Verdict : uint8_t { Equal, Different, Undecided } verdict = Undecided;
  /// Equal: "Q4: neighbouring …" or "trees are equal at extent 4096".
  std::string how{};
  /// Different: an extent at which the trees differ. Undecided: they are equal
  /// up to this one.
  int64_t extent = 0;
  /// Different: at every smaller extent the trees are equal.
  bool smallest = false;
  /// Different: where an offsets digit has to be cut for that.
  std::vector<int64_t> offsets{};

  /// "trees differ from extent 2049 on", "not decided beyond extent 65536".
  std::string text() const;
};

/// The largest extent of which whole trees are compared.
constexpr int64_t largestTree = int64_t(1) << 18;

/// Rules first, trees where they do not decide. Throws algebra::RuleError
/// unless both cover the extents.
Decision decide(const Shape &a, const Shape &b, const Extents &extents,
                int64_t treeLimit = largestTree);

/// The same, by trees alone: what the rules are tested against.
bool treesEqual(const Shape &a, const Shape &b,
                const algebra::Elements &elements);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_EQUIVALENCE_H
