// Sweep.h - over which extents a kernel keeps its tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_SWEEP_H
#define BITPACT_EVIDENCE_REVEAL_SWEEP_H

#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::reveal {

/// `tokens=1..1025`, `n=1,2,7`, `k=64..4096:64`, and lists of these.
struct SweepRange {
  std::string dim;
  /// Ascending and distinct.
  std::vector<int64_t> extents;
};

/// At most so many extents are swept.
inline constexpr int64_t SweepLimit = 1 << 20;

/// Throws UserError for another text. `stride` above 1 keeps the first and last
/// extent of each range and every so-many-th between.
SweepRange parseSweep(const std::string &text, int64_t stride = 1);

/// What was found at one extent.
struct SweepPoint {
  int64_t extent = 0;
  /// Equal exactly if the kernel does the same.
  std::string tree;
  /// The variant that ran, where the kernel has names for its paths.
  std::string variant;
  /// For people: the tree in short, or why there is none.
  std::string text;
};

/// Consecutive extents of a sweep with one tree and one variant. Nothing is
/// known of extents that were not asked for.
struct SweepInterval {
  int64_t first = 0, last = 0, asked = 0;
  SweepPoint point;
};

std::vector<SweepInterval> intervalsOf(const std::vector<SweepPoint> &points);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_SWEEP_H
