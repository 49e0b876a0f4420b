// DotAtom.cpp - dot steps of matrix units, as numerics fix them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/DotAtom.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bitpact::reference {
namespace {

/// A finite number as integer * 2^(exponent - fraction bits of its format),
/// with the exponent a unit sees: subnormals have the smallest normal one.
struct Number {
  int64_t significand; // signed
  int exponent;
};

Number unpack(double value, int precision, int minExponent) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  if (magnitude == 0)
    return {0, minExponent};
  // Values of the small formats are normal doubles.
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  int seen = std::max(exponent, minExponent);
  uint64_t significand = (magnitude & ((uint64_t(1) << 52) - 1)) | uint64_t(1)
                                                                       << 52;
  int64_t integer =
      static_cast<int64_t>(significand >> (53 - precision + seen - exponent));
  return {bits >> 63 ? -integer : integer, seen};
}

/// value * 2^shift, truncated toward zero. Only a zero may have an exponent
/// above the largest one, so the shift of other values is bounded.
int64_t shifted(int64_t value, int shift) {
  if (value == 0)
    return 0;
  if (shift >= 0)
    return value * (int64_t(1) << shift);
  if (shift <= -63)
    return 0;
  return value / (int64_t(1) << -shift);
}

/// sum * 2^scale truncated toward zero to f32.
double truncateToF32(int64_t sum, int scale) {
  if (sum == 0)
    return 0;
  uint64_t magnitude = sum < 0 ? -static_cast<uint64_t>(sum) : sum;
  int exponent = std::bit_width(magnitude) - 1 + scale;
  double sign = sum < 0 ? -1 : 1;
  if (exponent > 127)
    return sign * std::numeric_limits<double>::infinity();
  int unit = std::max(exponent - 23, -149); // of the last bit that is kept
  if (unit > scale) {
    magnitude = unit - scale > 63 ? 0 : magnitude >> (unit - scale);
    scale = unit;
  }
  return magnitude == 0
             ? 0
             : sign * std::ldexp(static_cast<double>(magnitude), scale);
}

} // namespace

double dotNvStep(const algebra::Atom &atom, algebra::Format element,
                 const double *a, const double *b, int count,
                 double accumulator) {
  constexpr int maxTerms = 64;
  const int precision = algebra::precision(element);
  const int minExponent = element == algebra::Format::F16 ? -14 : -126;
  const int fraction = static_cast<int>(atom.fraction);

  // Infinities and NaNs among products and accumulator decide on their own.
  double special = std::isfinite(accumulator) ? 0 : accumulator;
  Number products[maxTerms];
  count = std::min(count, maxTerms);
  int largest = std::numeric_limits<int>::min();
  for (int i = 0; i < count; ++i) {
    double exact = a[i] * b[i];
    if (!std::isfinite(exact)) {
      special += exact;
      continue;
    }
    Number x = unpack(a[i], precision, minExponent);
    Number y = unpack(b[i], precision, minExponent);
    products[i] = {x.significand * y.significand, x.exponent + y.exponent};
    if (products[i].significand != 0)
      largest = std::max(largest, products[i].exponent);
  }
  if (special != 0)
    return special; // Inf - Inf has become NaN
  Number start = unpack(accumulator, 24, -126);
  if (start.significand != 0)
    largest = std::max(largest, start.exponent);
  if (largest == std::numeric_limits<int>::min())
    return 0; // nothing but zeros, also when all are -0

  const int scale = largest - fraction; // the sum counts units of 2^scale
  int64_t sum = shifted(start.significand, start.exponent - 23 - scale);
  for (int i = 0; i < count; ++i)
    sum += shifted(products[i].significand,
                   products[i].exponent - 2 * (precision - 1) - scale);
  return truncateToF32(sum, scale);
}

} // namespace bitpact::reference
