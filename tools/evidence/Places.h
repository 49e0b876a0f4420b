// Places.h - where many outputs are compared with the reference evaluator
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_PLACES_H
#define BITPACT_EVIDENCE_PLACES_H

#include <cstdint>
#include <vector>

namespace bitpact::evidence {

/// One coordinate an axis.
using Place = std::vector<int64_t>;

/// Positions at which kernels change what they do: both ends of the axis, and
/// both sides of the first and of the last boundary of tiles of usual lengths.
std::vector<int64_t> edgesOf(int64_t extent);

/// `count` places or, if `extents` has no more, all; more only where that many
/// do not hold every edge of every axis. The same for the same seed. In order,
/// none twice: the corners; every edge of an axis beside a random position and
/// beside an edge of the next one; first and last of each axis several times;
/// the rest anywhere.
std::vector<Place> choosePlaces(const std::vector<int64_t> &extents,
                                int64_t count, uint64_t seed);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_PLACES_H
