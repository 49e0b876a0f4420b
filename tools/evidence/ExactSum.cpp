// ExactSum.cpp - sums of doubles without a rounding
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/ExactSum.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bitpact::evidence {

void ExactSum::put(double value, bool negated) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  int exponent = int(bits >> 52 & 0x7ff);
  if (exponent)
    fraction |= uint64_t(1) << 52;
  else
    exponent = 1;
  int place = exponent - 1075 - lowest;
  bool negative = bool(bits >> 63) != negated;
  auto shifted = static_cast<unsigned __int128>(fraction) << (place % 32);
  for (int i = place / 32; shifted; ++i, shifted >>= 32) {
    int64_t part = int64_t(uint64_t(shifted) & 0xffffffff);
    limbs[i] += negative ? -part : part;
  }
  if (++uncarried == 1u << 30) {
    carry(limbs);
    uncarried = 0;
  }
}

void ExactSum::add(const ExactSum &other) {
  Limbs more = other.limbs;
  carry(more);
  carry(limbs);
  for (int i = 0; i < limbCount; ++i)
    limbs[i] += more[i];
  uncarried = 1;
}

/// All limbs but the last become 0 … 2^32 - 1; the last keeps the sign.
void ExactSum::carry(Limbs &limbs) {
  for (int i = 0; i + 1 < limbCount; ++i) {
    limbs[i + 1] += limbs[i] >> 32;
    limbs[i] &= 0xffffffff;
  }
}

bool ExactSum::operator==(const ExactSum &other) const {
  Limbs mine = limbs, theirs = other.limbs;
  carry(mine);
  carry(theirs);
  return mine == theirs;
}

bool ExactSum::isZero() const { return *this == ExactSum(); }

double ExactSum::rounded(bool &exact) const {
  Limbs digits = limbs;
  carry(digits);
  bool negative = digits.back() < 0;
  if (negative) {
    for (int64_t &limb : digits)
      limb = -limb;
    carry(digits);
  }
  int top = limbCount - 1;
  while (top > 0 && !digits[top])
    --top;
  // The leading 96 bits or so, the rest as one sticky bit.
  unsigned __int128 leading = 0;
  int bottom = top > 2 ? top - 2 : 0;
  for (int i = top; i >= bottom; --i)
    leading = leading << 32 | static_cast<unsigned __int128>(digits[i]);
  bool rest = false;
  for (int i = 0; i < bottom; ++i)
    rest |= digits[i] != 0;
  exact = true;
  if (!leading)
    return 0;
  int weight = lowest + 32 * bottom, width = 0;
  for (auto left = leading; left; left >>= 1)
    ++width;
  // As many bits as a double has there; fewer where it is subnormal.
  int keep = std::min(53, width + weight + 1074), drop = width - keep;
  if (drop <= 0) { // then nothing lies below either
    exact = !rest;
    double value = std::ldexp(double(uint64_t(leading)), weight);
    return negative ? -value : value;
  }
  auto kept = uint64_t(leading >> drop);
  unsigned __int128 lost =
      leading - (static_cast<unsigned __int128>(kept) << drop);
  unsigned __int128 half = static_cast<unsigned __int128>(1) << (drop - 1);
  exact = !lost && !rest;
  if (lost > half || (lost == half && (rest || (kept & 1))))
    ++kept;
  double value = std::ldexp(double(kept), weight + drop);
  return negative ? -value : value;
}

ExactDifference::ExactDifference(double a, double b) {
  // Knuth's two-sum of a and -b.
  high = a - b;
  double back = high - a;
  low = (a - (high - back)) + (-b - back);
}

bool ExactDifference::larger(const ExactDifference &other) const {
  double mine = std::fabs(high), theirs = std::fabs(other.high);
  if (mine != theirs)
    return mine > theirs;
  return (high < 0 ? -low : low) > (other.high < 0 ? -other.low : other.low);
}

} // namespace bitpact::evidence
