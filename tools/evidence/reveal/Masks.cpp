// Masks.cpp - a large term of either sign, and units that it swallows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Masks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <random>

using bitpact::algebra::Format;

namespace bitpact::reveal {
namespace {

using Positions = std::vector<int64_t>;

constexpr int trials = 16;

/// Fraction bits that the matrix units we know keep at most, for a box that may
/// be one; an accumulator of f64 for a box of which nothing is known.
int bitsToHide(const Signature &signature) {
  int bits = algebra::precision(signature.accumulator.value_or(Format::F64));
  return signature.kind == algebra::ReductionKind::Dot ? std::max(bits, 33)
                                                       : bits;
}

/// Does a fill of units count right? Then every subset of `chunk` does, unless
/// roundings on the way cancel in each of the trials.
bool countsRight(Questions &questions, const Positions &all, double unit,
                 int64_t capacity, std::mt19937_64 &random) {
  std::vector<Query> queries;
  std::vector<int64_t> expected;
  auto add = [&](Positions some) {
    std::sort(some.begin(), some.end());
    Query query;
    query.fill = unit;
    expected.push_back(static_cast<int64_t>(some.size()));
    query.filled = std::make_shared<Positions>(std::move(some));
    queries.push_back(std::move(query));
  };
  auto first = [&](Positions from) {
    from.resize(std::min<size_t>(from.size(), capacity));
    return from;
  };
  add(first(all));
  add(first(Positions(all.end() - first(all).size(), all.end())));
  for (int trial = 0; trial < trials; ++trial) {
    Positions some = all;
    if (trial % 2)
      std::shuffle(some.begin(), some.end(), random);
    else
      std::rotate(some.begin(), some.begin() + random() % some.size(),
                  some.end());
    some = first(some);
    std::erase_if(some, [&](int64_t) { return random() % 8 == 0; });
    add(std::move(some));
  }
  std::vector<double> results = questions.ask(queries);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != unit * static_cast<double>(expected[i]))
      return false;
  return true;
}

/// Do all sums have at least so many bits, from where two terms meet to the
/// result? Then as many units as these bits can count are exact, wherever.
bool hasBits(Questions &questions, double unit, int bits,
             std::mt19937_64 &random) {
  constexpr int64_t pairs = 1024;
  double large = std::ldexp(unit, bits - 1);
  std::vector<Query> queries;
  int64_t n = questions.n();
  for (int64_t trial = 0; trial < pairs; ++trial) {
    int64_t i = trial < n ? trial : static_cast<int64_t>(random() % n);
    int64_t j = trial % 2 ? (i + 1) % n : static_cast<int64_t>(random() % n);
    if (i != j)
      queries.push_back({0, nullptr, {{i, large}, {j, unit}}, 0});
    if (queries.size() < 256 && trial + 1 < pairs)
      continue;
    for (double result : questions.ask(queries))
      if (result != large + unit)
        return false;
    queries.clear();
  }
  return true;
}

bool cancels(Questions &questions, const Masks &masks,
             std::mt19937_64 &random) {
  std::vector<Query> queries;
  int64_t n = questions.n();
  for (int trial = 0; trial < trials; ++trial) {
    int64_t i = random() % n, j = random() % (n - 1);
    Query query;
    query.terms = cancelling(masks, i, j + (j >= i));
    queries.push_back(query);
  }
  for (double result : questions.ask(queries))
    if (result != 0)
      return false;
  return true;
}

} // namespace

std::vector<Term> cancelling(const Masks &masks, int64_t i, int64_t j) {
  return {{i, masks.big}, {j, -masks.big}};
}

Masks chooseMasks(Questions &questions) {
  const Signature &signature = questions.signature();
  const TermSpace &space = signature.terms;
  questions.say("masks");
  int hide = bitsToHide(signature);
  // Where the range is too short for all that an unknown box might be, masks
  // that hide f32 are better than none; what they cannot see is said.
  std::vector<int> hides{hide};
  if (!signature.accumulator && signature.element != Format::F64)
    for (int fewer : {33, 24})
      if (fewer < hide)
        hides.push_back(fewer);
  std::mt19937_64 random(1);
  Positions all(signature.n);
  std::iota(all.begin(), all.end(), 0);
  for (int bits : hides)
    for (auto [most, least] :
         std::initializer_list<std::pair<int, int>>{{60, -60},
                                                    {60, -24},
                                                    {40, -30},
                                                    {30, -48},
                                                    {15, -24},
                                                    {15, -14}}) {
      int high = std::min(most, space.maxExponent);
      int low = std::max(least, space.minExponent);
      // Units fill rows beside factors of 1.
      if (signature.factors)
        low = std::max(low, spaceOf(signature.element).minExponent);
      int spare = high - low - bits - 1;
      if (spare < 0)
        continue;
      Masks masks{std::ldexp(1.0, high), std::ldexp(1.0, low), 0, 0};
      if (!cancels(questions, masks, random))
        continue;
      // If all units together are counted right, any of them are.
      int64_t capacity = signature.n;
      if (spare < 40 && capacity > int64_t(1) << spare)
        capacity = 0;
      if (capacity == 0 ||
          !countsRight(questions, all, masks.unit, capacity, random)) {
        // A result has no more bits than it is stored with.
        int width = std::min({spare, 24, algebra::precision(signature.output)});
        while (width > 0 && !hasBits(questions, masks.unit, width, random))
          --width;
        capacity = std::min<int64_t>(signature.n, int64_t(1) << width);
        if (!countsRight(questions, all, masks.unit, capacity, random))
          continue;
      }
      masks.capacity = capacity;
      masks.seesBits =
          high - low - 1 - static_cast<int>(std::ceil(std::log2(capacity)));
      return masks;
    }
  int range = space.maxExponent + 1 - space.minExponent +
              static_cast<int>(std::ceil(std::log2(signature.n)));
  if (signature.accumulator && range <= hide && !signature.factors)
    throw Undetermined(fmt::format(
        "all terms of {} lie within {} bits, and {} adds them exactly: their "
        "order is not seen, and matters only where partials are rounded",
        algebra::name(signature.element), range,
        algebra::name(*signature.accumulator)));
  throw Undetermined(fmt::format(
      "no power of two of {} hides units in an accumulator of {} bits and "
      "leaves them countable in the result: what is between the terms and the "
      "result has too short a range, or does not add",
      algebra::name(signature.element), hide));
}

} // namespace bitpact::reveal
