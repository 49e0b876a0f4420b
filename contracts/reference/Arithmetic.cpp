// Arithmetic.cpp - correctly rounded arithmetic of every format, on doubles
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Arithmetic.h"

namespace bitpact::reference {

uint64_t canonicalNaN(Format format) {
  switch (format) {
  case Format::BF16:
    return 0x7fc0;
  case Format::F16:
    return 0x7e00;
  case Format::F32:
    return 0x7fc00000;
  default:
    return 0x7ff8000000000000;
  }
}

uint64_t encode(Format format, double value) {
  if (std::isnan(value))
    return canonicalNaN(format);
  switch (format) {
  case Format::BF16:
    return encode16<8>(value);
  case Format::F16:
    return encode16<5>(value);
  case Format::F32:
    return encode32(value);
  default:
    return std::bit_cast<uint64_t>(value);
  }
}

double decode(Format format, uint64_t bits) {
  switch (format) {
  case Format::BF16: // the upper half of an f32
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  case Format::F16: {
    int exponent = static_cast<int>(bits >> 10) & 31;
    int fraction = static_cast<int>(bits) & 1023;
    double magnitude;
    if (exponent == 31)
      magnitude = fraction ? std::numeric_limits<double>::quiet_NaN()
                           : std::numeric_limits<double>::infinity();
    else if (exponent == 0)
      magnitude = fraction * 0x1p-24;
    else // (1024 + fraction) * 2^(exponent - 25), the power as a double
      magnitude = (1024 + fraction) *
                  std::bit_cast<double>(uint64_t(exponent - 25 + 1023) << 52);
    return bits >> 15 & 1 ? -magnitude : magnitude;
  }
  case Format::F32:
    return decode32(static_cast<uint32_t>(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}

double roundTo(Format format, double value) {
  return withFormat(format, [&]<Format F>() { return roundTo<F>(value); });
}

double product(Format format, double a, double b) {
  double rounded = a * b;
  if (format == Format::F64 || !std::isfinite(rounded))
    return rounded;
  // Operands of f64 may have an inexact product; round it to odd, then once.
  // Where the error underflows the product is far below the other formats.
  double error = std::fma(a, b, -rounded);
  return roundTo(format, error == 0 ? rounded : addToOdd(rounded, error));
}

} // namespace bitpact::reference
