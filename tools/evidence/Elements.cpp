// Elements.cpp - single elements of every format as doubles and as bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

using bitpact::algebra::Format;

namespace bitpact::evidence {

FormatFacts factsOf(Format format) {
  switch (format) {
  case Format::BF16:
    return {8, 7};
  case Format::F16:
    return {5, 10};
  case Format::F32:
    return {8, 23};
  case Format::F64:
    return {11, 52};
  default:
    throw std::invalid_argument("not a floating-point format");
  }
}

uint64_t encode(Format format, double value) {
  if (format == Format::I32)
    return static_cast<uint32_t>(static_cast<int32_t>(value));
  if (format == Format::I64)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  auto [exponentBits, fractionBits] = factsOf(format);
  FormatFacts facts{exponentBits, fractionBits};
  uint64_t infinity = ((1ull << exponentBits) - 1) << fractionBits;
  if (std::isnan(value))
    return infinity | (1ull << (fractionBits - 1));
  uint64_t sign = static_cast<uint64_t>(std::signbit(value))
                  << (exponentBits + fractionBits);
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | infinity;
  if (magnitude == 0)
    return sign;
  if (format == Format::F64)
    return std::bit_cast<uint64_t>(value);
  int minimum = facts.minExponent();
  int exponent = std::max(std::ilogb(magnitude), minimum);
  // The scaled value has at most fractionBits + 1 bits before the point, so
  // scaling is exact and nearbyint is the one rounding.
  auto steps = static_cast<uint64_t>(
      std::nearbyint(std::ldexp(magnitude, fractionBits - exponent)));
  uint64_t bits =
      (static_cast<uint64_t>(exponent - minimum) << fractionBits) + steps;
  return sign | std::min(bits, infinity);
}

double decode(Format format, uint64_t bits) {
  if (format == Format::I32)
    return static_cast<int32_t>(static_cast<uint32_t>(bits));
  if (format == Format::I64)
    return static_cast<double>(static_cast<int64_t>(bits));
  if (format == Format::F64)
    return std::bit_cast<double>(bits);
  auto [exponentBits, fractionBits] = factsOf(format);
  FormatFacts facts{exponentBits, fractionBits};
  uint64_t fraction = bits & ((1ull << fractionBits) - 1);
  int field =
      static_cast<int>((bits >> fractionBits) & ((1ull << exponentBits) - 1));
  double sign = (bits >> (exponentBits + fractionBits)) & 1 ? -1.0 : 1.0;
  if (field == (1 << exponentBits) - 1)
    return fraction ? std::nan("") : sign * HUGE_VAL;
  if (field)
    fraction |= 1ull << fractionBits;
  return sign * std::ldexp(static_cast<double>(fraction),
                           std::max(field, 1) - 1 + facts.minExponent() -
                               fractionBits);
}

uint64_t loadBits(Format format, const uint8_t *at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, algebra::bytes(format));
  return bits;
}

void storeBits(Format format, uint8_t *at, uint64_t bits) {
  std::memcpy(at, &bits, algebra::bytes(format));
}

void canonicalizeNans(Format format, std::span<uint8_t> bytes) {
  if (format == Format::I32 || format == Format::I64)
    return;
  size_t width = algebra::bytes(format);
  FormatFacts facts = factsOf(format);
  uint64_t magnitude = (uint64_t(1) << (8 * width - 1)) - 1;
  uint64_t infinity = magnitude >> facts.fractionBits << facts.fractionBits;
  uint64_t quiet = uint64_t(1) << (facts.fractionBits - 1);
  for (size_t at = 0; at < bytes.size(); at += width)
    if ((loadBits(format, &bytes[at]) & magnitude) > infinity)
      storeBits(format, &bytes[at], infinity | quiet);
}

std::string bitsText(Format format, uint64_t bits) {
  return fmt::format("0x{:0{}x}", bits, algebra::bytes(format) * 2);
}

} // namespace bitpact::evidence
