// Masks.h - a large term of either sign, and units that it swallows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_MASKS_H
#define BITPACT_EVIDENCE_REVEAL_MASKS_H

#include "tools/evidence/reveal/Questions.h"

namespace bitpact::reveal {

/// +big and -big cancel to +0 where they meet; until then `capacity` units,
/// added together first or not, vanish beside them. Elsewhere that many units
/// are counted exactly.
struct Masks {
  double big = 0, unit = 0;
  int64_t capacity = 0;
  /// Significant bits of an accumulator that these masks still see as one. A
  /// wider one would be taken for one that adds in any order.
  int seesBits = 0;
};

/// Tries masks from wide to narrow on the box itself, since a format on the way
/// (an output in f16, partials in bf16) may overflow or hold few units. Throws
/// Undetermined if none is counted right.
Masks chooseMasks(Questions &questions);

/// Two terms that cancel: +big at i and -big at j.
std::vector<Term> cancelling(const Masks &masks, int64_t i, int64_t j);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_MASKS_H
