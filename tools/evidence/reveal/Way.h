// Way.h - what the way from position 0 to a tree's root meets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_WAY_H
#define BITPACT_EVIDENCE_REVEAL_WAY_H

#include "tools/evidence/reveal/RevealedTree.h"

namespace bitpact::reveal {

/// All that meets the way at one vertex. Blocks of a digit differ from the
/// first one, which holds position 0, by multiples of the digit's length, so
/// the least positions on this way tell the digits.
struct Level {
  int64_t least = 0, leaves = 0;
  /// Positions, where all parts are single elements.
  std::vector<int64_t> elements;
};

/// Innermost first.
std::vector<Level> wayOf(const RevealedTree &tree);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_WAY_H
