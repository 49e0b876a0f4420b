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

constexpr int maxTerms = 64;
/// Below the exponent of every product of two bf16.
constexpr int noExponent = -1000;

/// The exponent a unit sees: that of the smallest normal for what is below it.
/// Values of the small formats and of f32 are normal doubles.
int seenExponent(double value, int minExponent) {
  int field =
      static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
  return std::max(field, minExponent);
}

/// 2^exponent, for exponents of normal doubles.
double power(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// The products of one step.
struct Products {
  double value[maxTerms]; ///< exact: 22 bits at most
  int largest = noExponent;
  double special = 0; ///< not 0 if one is infinite or NaN

  Products(algebra::Format element, const double *a, const double *b,
           int count) {
    const int minExponent = element == algebra::Format::F16 ? -14 : -126;
    double poison = 0;
    for (int i = 0; i < count; ++i) {
      value[i] = a[i] * b[i];
      poison += value[i] * 0; // NaN for what is not finite
      int exponent =
          seenExponent(a[i], minExponent) + seenExponent(b[i], minExponent);
      largest = std::max(largest, value[i] == 0 ? noExponent : exponent);
    }
    if (poison != 0) // NaN
      for (int i = 0; i < count; ++i)
        if (!std::isfinite(value[i]))
          special += value[i]; // Inf - Inf becomes NaN
  }

  /// The exact sum in units of 2^unit, each truncated toward zero.
  int64_t sum(int count, int unit) const {
    double scale = power(-unit);
    int64_t total = 0;
    for (int i = 0; i < count; ++i)
      total += static_cast<int64_t>(value[i] * scale);
    return total;
  }
};

/// sum * 2^unit truncated toward zero to f32; a zero is +0.
double truncateToF32(int64_t sum, int unit) {
  if (sum == 0)
    return 0;
  uint64_t magnitude = sum < 0 ? -static_cast<uint64_t>(sum) : sum;
  int exponent = std::bit_width(magnitude) - 1 + unit;
  double sign = sum < 0 ? -1 : 1;
  if (exponent > 127)
    return sign * std::numeric_limits<double>::infinity();
  int kept = std::max(exponent - 23, -149); // the last bit of the result
  if (kept > unit) {
    magnitude = kept - unit > 63 ? 0 : magnitude >> (kept - unit);
    unit = kept;
  }
  return magnitude == 0
             ? 0
             : sign * std::ldexp(static_cast<double>(magnitude), unit);
}

double nvStep(int fraction, const Products &products, int count,
              double accumulator) {
  // What is zero has an exponent as well, which shows below 2^-108.
  int largest = std::max(products.largest, -108 - fraction);
  if (accumulator != 0)
    largest = std::max(largest, seenExponent(accumulator, -126));
  const int unit = largest - fraction;
  int64_t sum = products.sum(count, unit) +
                static_cast<int64_t>(accumulator * power(-unit));
  return truncateToF32(sum, unit);
}

/// value * 2^shift, rounded down.
int64_t shiftedDown(int64_t value, int shift) {
  if (shift >= 0)
    return value * (int64_t(1) << shift);
  return value >> std::min(-shift, 63);
}

double cdna3Step(const Products &products, int count, double accumulator) {
  const int accumulatorExponent = seenExponent(accumulator, -126);
  const int top = std::max(products.largest, accumulatorExponent);
  int64_t sum = 0; // in units of 2^(top - 32)
  if (products.largest != noExponent)
    sum = shiftedDown(products.sum(count, products.largest - 24),
                      products.largest - 24 - (top - 32));
  // The accumulator has at most 24 bits below its exponent.
  int64_t start = static_cast<int64_t>(
      accumulator * power(23 - accumulatorExponent)); // exact
  sum += shiftedDown(start, accumulatorExponent - 23 - (top - 24)) * 256;
  if (sum == 0)
    return 0;
  uint64_t magnitude = sum < 0 ? -static_cast<uint64_t>(sum) : sum;
  int exponent = std::max(
      static_cast<int>(std::bit_width(magnitude)) - 1 + top - 32, -126);
  int drop = std::max(exponent - 31 - (top - 32), 0);
  double exact =
      std::ldexp(static_cast<double>(shiftedDown(sum, -drop)), top - 32 + drop);
  return static_cast<float>(exact); // to nearest even, subnormals kept
}

} // namespace

double dotStep(const algebra::Atom &atom, algebra::Format element,
               const double *a, const double *b, int count,
               double accumulator) {
  count = std::min(count, maxTerms);
  Products products(element, a, b, count);
  const bool cdna3 = atom.family == "dot.cdna3";
  // Infinities and NaNs among products and accumulator decide on their own.
  double special = products.special;
  if (cdna3)
    for (int i = 0; i < count; ++i)
      if (std::isfinite(products.value[i]) &&
          std::fabs(products.value[i]) >= 0x1p128)
        special += std::copysign(std::numeric_limits<double>::infinity(),
                                 products.value[i]);
  if (!std::isfinite(accumulator))
    special += accumulator;
  if (special != 0)
    return special;
  return cdna3 ? cdna3Step(products, count, accumulator)
               : nvStep(static_cast<int>(atom.fraction), products, count,
                        accumulator);
}

} // namespace bitpact::reference
