// Sweep.h - over which extents a kernel keeps its tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_SWEEP_H
#define BITPACT_EVIDENCE_REVEAL_SWEEP_H

#include "tools/evidence/reveal/Reveal.h"
#include "tools/evidence/reveal/SweepRange.h"

#include <functional>
#include <memory>

namespace bitpact::reveal {

/// A kernel at one extent of the swept dim.
struct SweptBox {
  std::unique_ptr<BlackBox> box;
  /// What ran, where the kernel has names for its paths.
  std::string variant;
};

/// Consecutive extents of a sweep at which one thing is done. Nothing is known
/// of extents that were not asked for.
struct SweepInterval {
  int64_t first = 0, last = 0, asked = 0;
  std::string variant;
  /// One text that has the tree at every extent of the interval.
  std::optional<algebra::Reduction> reduction;
  /// Where no text was found, or no tree: why. Its trees may differ.
  std::string reason;
  /// Intervals of one number have one tree; 0 where there is none.
  int64_t number = 0;
  /// At `first` and at `last`.
  RevealedTree firstTree, lastTree;
  /// Bits that a step of several terms keeps; -1: not known, or there is none.
  int64_t fraction = -1;
};

struct SweepReport {
  SweepRange range;
  /// The swept dim is the one that is reduced.
  bool reduces = false;
  /// Of the last extent.
  Signature signature;
  std::vector<SweepInterval> intervals;
  int64_t rows = 0;
};

/// Asks at every extent: equal trees at two extents say nothing about those
/// between. If the swept dim is reduced, the trees have different leaves, and
/// an interval is where one contract text has them all; it is looked for at the
/// largest extent, where it shows most, and followed downwards.
SweepReport sweep(const SweepRange &range, bool reduces,
                  const std::function<SweptBox(int64_t)> &open,
                  const evidence::Progress &progress);

/// Texts that could be those of a family: the reduction, and each that has a
/// `*` in place of one radix and still the tree at `extent`.
std::vector<algebra::Reduction> families(const algebra::Reduction &reduction,
                                         int64_t extent);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_SWEEP_H
