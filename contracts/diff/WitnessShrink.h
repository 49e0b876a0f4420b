// WitnessShrink.h - the smallest and plainest input that still differs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_WITNESSSHRINK_H
#define BITPACT_DIFF_WITNESSSHRINK_H

#include "contracts/diff/ContractPair.h"

namespace bitpact::diff {

/// One row of `candidate`, which differs, where rows are open; open extents as
/// small as possible; then as many elements as possible zero, one, another
/// power of two, or of few bits. Stops after `budget` evaluated elements.
Candidate shrink(const ContractPair &pair, const Candidate &candidate,
                 const Parting &parting, int64_t budget = int64_t(1) << 22);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_WITNESSSHRINK_H
