// Elements.h - single elements of every format as doubles and as bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ELEMENTS_H
#define BITPACT_EVIDENCE_ELEMENTS_H

#include "contracts/algebra/Format.h"

#include <cstdint>
#include <span>
#include <string>

namespace bitpact::evidence {

/// What generated data needs to know about a binary floating-point format.
struct FormatFacts {
  int exponentBits;
  int fractionBits;
  int minExponent() const { return 2 - (1 << (exponentBits - 1)); }
  int maxExponent() const { return (1 << (exponentBits - 1)) - 1; }
};

FormatFacts factsOf(algebra::Format format);

/// Rounds to nearest, ties to even; NaN becomes the canonical NaN.
uint64_t encode(algebra::Format format, double value);
double decode(algebra::Format format, uint64_t bits);

uint64_t loadBits(algebra::Format format, const uint8_t *at);
void storeBits(algebra::Format format, uint8_t *at, uint64_t bits);

/// Every NaN becomes the canonical one.
void canonicalizeNans(algebra::Format format, std::span<uint8_t> bytes);

/// `0x3f80`, as many digits as the format has.
std::string bitsText(algebra::Format format, uint64_t bits);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_ELEMENTS_H
