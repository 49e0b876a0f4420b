// Absorption.h - which terms meet first, where no term can be negative
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_ABSORPTION_H
#define BITPACT_EVIDENCE_REVEAL_ABSORPTION_H

#include "tools/evidence/reveal/Triples.h"

namespace bitpact::reveal {

/// A sum S of a large term and a ballast, at which the result changes from S to
/// the next number above it. Units are a little more than a quarter of that
/// distance: added to S one by one they vanish, two of them added together
/// first do not. So with the large term at i and units at j and k, the result
/// is the changed one exactly if j and k meet before either meets i.
class Absorption : public TripleOracle {
public:
  /// Finds S by bisection on the box, and checks at every one of `positions`
  /// that a large term there reads as expected. Throws Undetermined if the
  /// result does not show the last bit of the sum.
  Absorption(Questions &questions, const std::vector<int64_t> &positions);

  std::vector<bool> ask(const std::vector<Triple> &triples) override;

  /// Significant bits of the accumulator, which S is made for.
  int bits() const { return accumulatorBits; }

private:
  /// The sum is (big + ballast) * ulp; `big` and each of the ballast are
  /// squares, or the ballast is empty.
  struct Sum {
    double big = 0;
    std::vector<double> ballast;
  };
  Query query(const Sum &sum, int64_t i, const std::vector<Term> &others) const;
  /// The values at which the result changes, for large terms of many kinds.
  bool findSquares(int bits);
  bool drawSquares(int bits, const std::vector<double> &bigs, int64_t room);
  bool findWeights(int bits);
  bool confirm(const std::vector<int64_t> &positions);

  Questions &questions;
  Sum sum;
  double ulp = 1, unit = 0;
  /// What the sum and the next one read as.
  double low = 0, high = 0;
  int accumulatorBits = 0;
  int64_t home = 0;
};

/// For boxes of terms of either sign whose result is no count: a unit at i is
/// seen exactly if it is outside of where +M at j and -M at k meet.
class Cancellation : public TripleOracle {
public:
  explicit Cancellation(Questions &questions);
  std::vector<bool> ask(const std::vector<Triple> &triples) override;

private:
  Questions &questions;
  double big = 0, unit = 0;
  std::optional<double> seen;
};

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_ABSORPTION_H
