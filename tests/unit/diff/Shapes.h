// Shapes.h - reductions from texts, and random ones
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_DIFF_SHAPES_H
#define BITPACT_TESTS_DIFF_SHAPES_H

#include "contracts/diff/Equivalence.h"

#include <random>
#include <string>

namespace bitpact::tests {

/// `order` with commas between entries. Steps are not plain unless said so.
diff::Shape shapeOf(const std::string &partition, const std::string &order,
                    algebra::ReductionKind kind = algebra::ReductionKind::Sum,
                    algebra::State state = algebra::State::None);

/// A valid reduction of a few small digits that covers `extent` (0: any).
diff::Shape randomShape(std::mt19937_64 &random, int64_t extent,
                        bool states = true);

/// The same or nearly the same in other words: digits split, lengths stated,
/// digits of one block added, forms exchanged.
diff::Shape reworded(std::mt19937_64 &random, const diff::Shape &shape,
                     int64_t extent);

std::string describe(const diff::Shape &shape);

} // namespace bitpact::tests

#endif // BITPACT_TESTS_DIFF_SHAPES_H
