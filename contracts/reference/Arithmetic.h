// Arithmetic.h - correctly rounded arithmetic of every format, on doubles
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_ARITHMETIC_H
#define BITPACT_REFERENCE_ARITHMETIC_H

#include "contracts/algebra/Format.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// A value of any format is held in a double that equals it. NaNs have no
// payload here: storing one gives the canonical NaN of the format (rule E2).
namespace bitpact::reference {

using algebra::Format;

/// The bits of the value of `format` nearest to `value`, ties to even; in the
/// low bits of the result.
uint64_t encode(Format format, double value);

/// The value of `bits`.
double decode(Format format, uint64_t bits);

/// The same for f32, in line for loops over many values.
inline uint32_t encode32(double value) {
  return std::isnan(value) ? 0x7fc00000
                           : std::bit_cast<uint32_t>(static_cast<float>(value));
}
inline double decode32(uint32_t bits) { return std::bit_cast<float>(bits); }

/// The bits of the one NaN that is stored.
uint64_t canonicalNaN(Format format);

/// The 16-bit encoding with `exponentBits`, 5 for f16 and 8 for bf16.
template <int exponentBits> uint16_t encode16(double value) {
  constexpr int fractionBits = 15 - exponentBits;
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr uint64_t infinity = uint64_t((1 << exponentBits) - 1)
                                << fractionBits;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 48) & 0x8000;
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  if (magnitude > uint64_t(0x7ff) << 52)
    return static_cast<uint16_t>(infinity | 1 << (fractionBits - 1));
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > bias)
    return static_cast<uint16_t>(sign | infinity);
  uint64_t significand = (magnitude & ((uint64_t(1) << 52) - 1)) | uint64_t(1)
                                                                       << 52;
  int shift = 52 - fractionBits;
  // `whole` is the biased exponent above the fraction; the implicit bit of a
  // normal significand adds the last one to the exponent.
  uint64_t whole = 0;
  if (exponent >= 1 - bias)
    whole = static_cast<uint64_t>(exponent + bias - 1) << fractionBits;
  else
    shift += 1 - bias - exponent; // a subnormal: units of the smallest one
  if (shift > 54)
    return sign; // below half of the smallest subnormal
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // A carry runs into the exponent, at the top of the range up to infinity.
  return static_cast<uint16_t>(sign | (whole + kept));
}

/// The nearest value of `F`, ties to even.
template <Format F> double roundTo(double value) {
  constexpr int exponentBits = F == Format::F16 ? 5 : 8;
  if constexpr (F == Format::F64)
    return value;
  else if constexpr (F == Format::F32)
    return static_cast<float>(value);
  else
    return decode(F, encode16<exponentBits>(value));
}

double roundTo(Format format, double value);

/// p + c rounded to odd: its 53 bits determine every rounding to at most 51.
inline double addToOdd(double p, double c) {
  double sum = p + c;
  if (!std::isfinite(sum))
    return sum;
  double part = sum - p;
  double error = (p - (sum - part)) + (c - part); // exactly p + c - sum
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

// For the formats below f64, operands have at most 24 bits. Then + - * / and
// sqrt in f64, rounded once more, are correctly rounded (53 >= 2 * 24 + 2).
template <Format F> double add(double a, double b) { return roundTo<F>(a + b); }
template <Format F> double sub(double a, double b) { return roundTo<F>(a - b); }
template <Format F> double mul(double a, double b) { return roundTo<F>(a * b); }
template <Format F> double div(double a, double b) { return roundTo<F>(a / b); }
template <Format F> double sqrt(double a) { return roundTo<F>(std::sqrt(a)); }

template <Format F> double fma(double a, double b, double c) {
  if constexpr (F == Format::F64)
    return std::fma(a, b, c);
  else if constexpr (F == Format::F32)
    return std::fma(static_cast<float>(a), static_cast<float>(b),
                    static_cast<float>(c));
  else
    return roundTo<F>(addToOdd(a * b, c)); // a * b is exact: 22 bits
}

/// IEEE 754-2019 maximum and minimum: NaN wins, +0 is above -0.
inline double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline double minimum(double a, double b) { return -maximum(-a, -b); }

/// a * b rounded once to `format`; a and b are values of any format.
double product(Format format, double a, double b);

/// Calls `f` with the format as a template argument: f.template
/// operator()<F>().
template <class Function>
decltype(auto) withFormat(Format format, Function &&f) {
  switch (format) {
  case Format::BF16:
    return f.template operator()<Format::BF16>();
  case Format::F16:
    return f.template operator()<Format::F16>();
  case Format::F32:
    return f.template operator()<Format::F32>();
  default:
    return f.template operator()<Format::F64>();
  }
}

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_ARITHMETIC_H
