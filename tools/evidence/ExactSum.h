// ExactSum.h - sums of doubles without a rounding
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_EXACTSUM_H
#define BITPACT_EVIDENCE_EXACTSUM_H

#include <array>
#include <cstdint>

namespace bitpact::evidence {

/// A fixed-point number that holds every finite double, and 2^63 of them
/// added up.
class ExactSum {
public:
  /// Finite values only.
  void add(double value) { put(value, false); }
  void subtract(double value) { put(value, true); }
  void add(const ExactSum &other);

  bool operator==(const ExactSum &other) const;
  bool isZero() const;
  /// To nearest, ties to even; `exact` says whether nothing was lost.
  double rounded(bool &exact) const;

private:
  // Limb i weighs 2^(32 i - 1088); limbs run over for a while and are carried
  // before they overflow.
  static constexpr int limbCount = 69, lowest = -1088;
  using Limbs = std::array<int64_t, limbCount>;
  void put(double value, bool negated);
  static void carry(Limbs &limbs);
  Limbs limbs{};
  uint32_t uncarried = 0;
};

/// a - b as `high + low`, exactly; |low| is at most half an ulp of high.
struct ExactDifference {
  ExactDifference(double a, double b);
  double high, low;
  bool isZero() const { return high == 0; }
  /// By magnitude.
  bool larger(const ExactDifference &other) const;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_EXACTSUM_H
