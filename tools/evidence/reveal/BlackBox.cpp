// BlackBox.cpp - rows of terms, and what formats can hold of them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/BlackBox.h"

#include "contracts/reference/Arithmetic.h"

#include <cmath>
#include <stdexcept>

using bitpact::algebra::Format;

namespace bitpact::reveal {
namespace {

/// Of powers of two. Subnormals are for f16 alone, which has nothing else.
std::pair<int, int> exponents(Format format) {
  switch (format) {
  case Format::F16:
    return {-24, 15};
  case Format::F64:
    return {-1022, 1023};
  default:
    return {-126, 127};
  }
}

} // namespace

TermSpace spaceOf(Format element, bool product) {
  auto [least, most] = exponents(element);
  TermSpace space;
  space.precision = algebra::precision(element);
  space.minExponent = product ? 2 * least : least;
  space.maxExponent = product ? 2 * most : most;
  return space;
}

std::vector<double> valuesOf(const Query &query, int64_t n) {
  std::vector<double> values(n, query.filled ? 0 : query.fill);
  if (query.filled)
    for (int64_t position : *query.filled)
      values.at(position) = query.fill;
  for (const Term &term : query.terms)
    values.at(term.position) = term.value;
  return values;
}

std::vector<double> factorsOf(const Query &query, int64_t n) {
  std::vector<double> factors(n, 1);
  for (const Term &term : query.terms)
    factors.at(term.position) = term.factor;
  return factors;
}

Term shared(const Term &term, Format element) {
  auto holds = [&](double value) {
    return reference::roundTo(element, value) == value;
  };
  if (holds(term.value) && holds(term.factor))
    return term;
  int exponent = 0;
  double significand = std::frexp(term.value, &exponent);
  if (term.factor == 1) {
    Term two{term.position, std::ldexp(significand, exponent - exponent / 2),
             std::ldexp(1.0, exponent / 2)};
    if (holds(two.value) && holds(two.factor) &&
        two.value * two.factor == term.value)
      return two;
  }
  throw std::logic_error("reveal asked for a term that the format cannot hold");
}

} // namespace bitpact::reveal
