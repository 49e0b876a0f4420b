// WitnessBoundary.h - walks to inputs at which an output changes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_WITNESSBOUNDARY_H
#define BITPACT_DIFF_WITNESSBOUNDARY_H

#include "contracts/diff/WitnessInputs.h"

#include <optional>
#include <utility>

namespace bitpact::diff {

/// A batch on which the contracts differ, and where.
using Found = std::pair<Candidate, Parting>;

/// An output of A is a step function of any element of the input. Where two
/// contracts differ by little inside, their steps lie apart by little, and only
/// an input between both steps shows it. Both walks end beside a step of A, and
/// every input on the way is judged. `tried` counts them.

/// Moves single elements: one in each row, or every element of an input that
/// rows share, each beside the output element at its own position.
std::optional<Found> walkToBoundary(const ContractPair &pair,
                                    const Candidate &from,
                                    WitnessSource &source, int64_t &tried);

/// For types of few bits, in which no single element comes near: adds smaller
/// and smaller elements and keeps those that leave an output of A as it is.
std::optional<Found> approachBoundary(const ContractPair &pair,
                                      const Candidate &from, bool logarithmic,
                                      WitnessSource &source, int64_t &tried);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_WITNESSBOUNDARY_H
