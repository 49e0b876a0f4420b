// Format.cpp - element formats and which of them contain which
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Format.h"

#include <array>

namespace bitpact::algebra {
namespace {

struct Facts {
  std::string_view name;
  int bits;
  int precision;   // significant bits; 0 for integers
  int minExponent; // of the smallest subnormal
  int maxExponent; // of the largest finite value
};

// Indexed by Format.
constexpr std::array<Facts, 6> facts{{{"bf16", 16, 8, -133, 127},
                                      {"f16", 16, 11, -24, 15},
                                      {"f32", 32, 24, -149, 127},
                                      {"f64", 64, 53, -1074, 1023},
                                      {"i32", 32, 0, 0, 0},
                                      {"i64", 64, 0, 0, 0}}};

const Facts &of(Format format) { return facts[static_cast<size_t>(format)]; }

} // namespace

std::string_view name(Format format) { return of(format).name; }
int bits(Format format) { return of(format).bits; }
int bytes(Format format) { return of(format).bits / 8; }
int precision(Format format) { return of(format).precision; }
bool isFloat(Format format) { return of(format).precision != 0; }

std::optional<Format> parseFormat(std::string_view text) {
  for (size_t i = 0; i < facts.size(); ++i)
    if (facts[i].name == text)
      return static_cast<Format>(i);
  return std::nullopt;
}

bool widensExactly(Format from, Format to) {
  if (from == to)
    return true;
  if (!isFloat(from) || !isFloat(to))
    return false;
  // Every value of `from` is m * 2^e with m of its precision and e no less
  // than its smallest exponent: more of each contains it.
  return of(from).precision <= of(to).precision &&
         of(from).minExponent >= of(to).minExponent &&
         of(from).maxExponent <= of(to).maxExponent;
}

std::string floatFormatNames() {
  std::string names;
  for (const Facts &f : facts)
    if (f.precision)
      names += (names.empty() ? "" : " ") + std::string(f.name);
  return names;
}

} // namespace bitpact::algebra
