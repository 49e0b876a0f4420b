// SweepRange.h - the extents of a sweep, as they are typed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_SWEEPRANGE_H
#define BITPACT_EVIDENCE_REVEAL_SWEEPRANGE_H

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

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_SWEEPRANGE_H
