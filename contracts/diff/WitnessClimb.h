// WitnessClimb.h - carries a difference inside outward, change by change
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_WITNESSCLIMB_H
#define BITPACT_DIFF_WITNESSCLIMB_H

#include "contracts/diff/WitnessBoundary.h"

namespace bitpact::diff {

/// Where a node or site differs and no output does, what follows rounds the
/// difference away, or adds something much larger to it. The row that differs
/// furthest out, and there in the largest value, is changed in a few elements,
/// `rows` times at once; the best of these is the next row. So a difference of
/// one ulp climbs from scale to scale, each time over a tie, and from site to
/// site.
std::optional<Found> climb(const ContractPair &pair, const Candidate &from,
                           int64_t rows, WitnessSource &source, int64_t &tried);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_WITNESSCLIMB_H
