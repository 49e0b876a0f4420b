// Ownership.h - shards as what they cover of a logical axis
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_OWNERSHIP_H
#define BITPACT_DIFF_OWNERSHIP_H

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bitpact::diff {

/// [first, second), never empty.
using Interval = std::pair<int64_t, int64_t>;

/// Who owns which part of one axis. Layouts differ, coverage may not.
struct Ownership {
  int64_t extent = 0;
  /// Equal shards may stand on several ranks.
  bool replicated = false;
  /// Each with its rank; a rank that says the same twice says it once.
  std::set<std::pair<int64_t, std::vector<Interval>>> shards;
};

/// What a layout comes to: the elements that somebody owns, and those that
/// several ranks own though the axis is not replicated. Sorted, disjoint, not
/// touching.
struct Coverage {
  int64_t extent = 0;
  std::vector<Interval> owned, doubled;
  bool operator==(const Coverage &) const = default;
};

Coverage coverageOf(const Ownership &ownership);

/// `[0, 8) [12, 16) of 32`, and what is owned twice.
std::string textOf(const Coverage &coverage);

/// The first element that one owns and the other does not, or owns otherwise;
/// -1 if only the extents differ.
int64_t firstDifference(const Coverage &a, const Coverage &b);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_OWNERSHIP_H
