// Absorption.cpp - which terms meet first, where no term can be negative
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Absorption.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <random>

using bitpact::algebra::Format;

namespace bitpact::reveal {
namespace {

/// Between a quarter and a half of the last place, and a square: (5/8)².
constexpr double unitOfUlp = 25.0 / 64;
/// The ballast stays below this part of the sum, so that a unit added to the
/// ballast alone is exact.
constexpr int ballastBits = 6;
constexpr int64_t grid = 64;
/// Roots of large terms that are tried, and places of change that are followed.
constexpr size_t roots = 16, changes = 64;
/// Small sums that are drawn where there is no room for a ballast.
constexpr int draws = 1 << 16;

bool same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// The largest square of a root of `bits` bits, times a power of four, that is
/// not above `number`.
double largestSquare(double number, int bits) {
  auto root = static_cast<uint64_t>(std::sqrt(number));
  while (static_cast<double>(root) * static_cast<double>(root) > number)
    --root;
  int extra = std::max(0, static_cast<int>(std::bit_width(root)) - bits);
  root = (root >> extra) << extra;
  return static_cast<double>(root) * static_cast<double>(root);
}

std::vector<double> asSquares(double number, int bits) {
  std::vector<double> squares;
  while (number > 0) {
    squares.push_back(largestSquare(number, bits));
    number -= squares.back();
  }
  return squares;
}

} // namespace

Absorption::Absorption(Questions &asked, const std::vector<int64_t> &positions)
    : questions(asked) {
  const Signature &signature = questions.signature();
  if (signature.n < 3 || positions.size() < 3)
    throw std::logic_error("three leaves are needed for a triple");
  questions.say("the sum's last bit");
  std::vector<int> widths{24, 53};
  if (signature.accumulator)
    widths = {algebra::precision(*signature.accumulator)};
  for (int bits : widths) {
    accumulatorBits = bits;
    bool found = signature.terms.exact ? findSquares(bits) : findWeights(bits);
    if (found && confirm(positions))
      return;
  }
  throw Undetermined(
      "no sum was found whose last bit shows in the result: it is rounded away "
      "on its way to the output, or no term can be made that fine");
}

Query Absorption::query(const Sum &of, int64_t i,
                        const std::vector<Term> &others) const {
  Query row;
  row.reader = i;
  row.terms = others;
  row.terms.push_back({i, of.big * ulp});
  // The ballast may be anywhere, since every sum with it is exact.
  int64_t at = questions.n();
  for (double square : of.ballast) {
    auto taken = [&] {
      return std::any_of(row.terms.begin(), row.terms.end(),
                         [&](const Term &term) { return term.position == at; });
    };
    do
      --at;
    while (at >= 0 && taken());
    if (at < 0)
      throw std::logic_error("more ballast than positions");
    row.terms.push_back({at, square * ulp});
  }
  return row;
}

bool Absorption::findSquares(int bits) {
  const TermSpace &space = questions.signature().terms;
  int rootBits = std::min(space.precision, 24);
  double low = std::ldexp(1.0, bits - 1), high = 2 * low;
  auto room = static_cast<int64_t>(questions.n()) - 3;
  // Large terms, as multiples of the last place.
  std::vector<double> bigs;
  for (size_t k = 0; k < roots; ++k) {
    double big = largestSquare(
        low * (1 + static_cast<double>(k) / static_cast<double>(roots)),
        rootBits);
    if (big >= low && big < high - low / (1 << ballastBits))
      bigs.push_back(big);
  }
  for (int top : {20, 40, 4, -4}) {
    int place = top - bits;
    place -= place & 1;
    if (place < space.minExponent + 6 || place + bits > space.maxExponent)
      continue;
    ulp = std::ldexp(1.0, place);
    unit = unitOfUlp * ulp;
    struct Change {
      double big, from, to;
    };
    auto ask = [&](const std::vector<std::pair<double, double>> &sums) {
      std::vector<Query> rows;
      for (auto [big, ballast] : sums)
        rows.push_back(query({big, asSquares(ballast, rootBits)}, home, {}));
      return questions.ask(rows);
    };
    auto fits = [&](double ballast) {
      return static_cast<int64_t>(asSquares(ballast, rootBits).size()) <= room;
    };
    std::vector<std::pair<double, double>> points;
    double step = std::max(1.0, low / (1 << ballastBits) / grid);
    for (double big : bigs)
      for (int64_t k = 0; k < grid; ++k)
        if (fits(step * static_cast<double>(k)))
          points.emplace_back(big, step * static_cast<double>(k));
    std::vector<double> readings = ask(points);
    std::vector<Change> found;
    for (size_t k = 1; k < points.size() && found.size() < changes; ++k)
      if (points[k].first == points[k - 1].first &&
          !same(readings[k], readings[k - 1]))
        found.push_back(
            {points[k].first, points[k - 1].second, points[k].second});
    // All of them at once, each halved until the ends are neighbours.
    for (bool more = true; more;) {
      more = false;
      std::vector<std::pair<double, double>> middles;
      std::vector<size_t> of;
      for (size_t k = 0; k < found.size(); ++k) {
        Change &change = found[k];
        if (change.to - change.from < 2)
          continue;
        double middle = std::floor((change.from + change.to) / 2);
        if (!fits(middle) || !fits(change.from)) {
          change.to = change.from; // no room: given up
          continue;
        }
        middles.emplace_back(change.big, change.from);
        middles.emplace_back(change.big, middle);
        of.push_back(k);
      }
      if (middles.empty())
        break;
      more = true;
      readings = ask(middles);
      for (size_t k = 0; k < of.size(); ++k)
        (same(readings[2 * k], readings[2 * k + 1]) ? found[of[k]].from
                                                    : found[of[k]].to) =
            middles[2 * k + 1].second;
    }
    std::erase_if(found, [&](const Change &change) {
      return change.to - change.from != 1 || !fits(change.from);
    });
    if (found.empty())
      continue;
    auto least = std::min_element(found.begin(), found.end(),
                                  [&](const Change &a, const Change &b) {
                                    return asSquares(a.from, rootBits).size() <
                                           asSquares(b.from, rootBits).size();
                                  });
    sum = {least->big, asSquares(least->from, rootBits)};
    return true;
  }
  return drawSquares(bits, bigs, room);
}

/// Where few positions are left for a ballast: sums of as many terms as fit,
/// drawn until the last bit of one shows.
bool Absorption::drawSquares(int bits, const std::vector<double> &bigs,
                             int64_t room) {
  const TermSpace &space = questions.signature().terms;
  int rootBits = std::min(space.precision, 24);
  int place = 20 - bits;
  place -= place & 1;
  if (bigs.empty() || place < space.minExponent + 6 ||
      place + bits > space.maxExponent)
    return false;
  ulp = std::ldexp(1.0, place);
  unit = unitOfUlp * ulp;
  std::mt19937_64 random(1);
  double low = std::ldexp(1.0, bits - 1);
  auto draw = [&](double most) {
    auto below = static_cast<uint64_t>(most);
    return largestSquare(static_cast<double>(random() % below >>
                                             random() % std::bit_width(below)),
                         rootBits);
  };
  for (int batch = 0; batch < 16; ++batch) {
    std::vector<Sum> sums;
    std::vector<Query> rows;
    for (int k = 0; k < draws / 16; ++k) {
      Sum one{largestSquare(
                  low + static_cast<double>(
                            random() % static_cast<uint64_t>(low * 31 / 32)),
                  rootBits),
              {}};
      if (one.big < low)
        continue;
      for (int64_t b = 0; b < room; ++b)
        if (double square =
                draw(low / (1 << ballastBits) / static_cast<double>(room));
            square > 0)
          one.ballast.push_back(square);
      rows.push_back(query(one, home, {}));
      rows.push_back(query(one, home, {{home + 1, ulp}}));
      sums.push_back(std::move(one));
    }
    std::vector<double> readings = questions.ask(rows);
    for (size_t k = 0; k < sums.size(); ++k)
      if (!same(readings[2 * k], readings[2 * k + 1])) {
        sum = sums[k];
        return true;
      }
  }
  return false;
}

bool Absorption::findWeights(int bits) {
  // The maximum itself, whose weight is exactly 1, and no room beside it.
  ulp = std::ldexp(1.0, 1 - bits);
  unit = unitOfUlp * ulp;
  sum = {std::ldexp(1.0, bits - 1), {}};
  return true;
}

/// At every position: the sum, the next one, and that a unit alone vanishes.
bool Absorption::confirm(const std::vector<int64_t> &positions) {
  std::vector<Query> rows;
  for (size_t k = 0; k < positions.size(); ++k) {
    int64_t i = positions[k], other = positions[(k + 1) % positions.size()];
    rows.push_back(query(sum, i, {}));
    rows.push_back(query(sum, i, {{other, ulp}}));
    rows.push_back(query(sum, i, {{other, unit}}));
  }
  std::vector<double> readings = questions.ask(rows);
  low = readings[0];
  high = readings[1];
  if (same(low, high) || std::isnan(low) || std::isnan(high))
    return false;
  for (size_t k = 0; k < readings.size(); ++k)
    if (!same(readings[k], k % 3 == 1 ? high : low))
      return false;
  return true;
}

std::vector<bool> Absorption::ask(const std::vector<Triple> &triples) {
  questions.say("triples");
  std::vector<bool> answers;
  answers.reserve(triples.size());
  constexpr size_t slice = 32768;
  for (size_t begin = 0; begin < triples.size(); begin += slice) {
    size_t end = std::min(triples.size(), begin + slice);
    std::vector<Query> rows;
    for (size_t t = begin; t < end; ++t)
      rows.push_back(query(sum, triples[t].i,
                           {{triples[t].j, unit}, {triples[t].k, unit}}));
    std::vector<double> readings = questions.ask(rows);
    for (size_t k = 0; k < readings.size(); ++k) {
      if (!same(readings[k], low) && !same(readings[k], high))
        throw Undetermined(fmt::format(
            "with a large term at x{} and units at x{} and x{} the result is "
            "{:.9g}, which is neither of the two that the sum can give",
            triples[begin + k].i, triples[begin + k].j, triples[begin + k].k,
            readings[k]));
      answers.push_back(same(readings[k], high));
    }
  }
  return answers;
}

Cancellation::Cancellation(Questions &asked) : questions(asked) {
  const Signature &signature = questions.signature();
  if (signature.n < 4)
    throw Undetermined("with fewer than four terms there is none beside three "
                       "at which the result could be read");
  int bits = algebra::precision(signature.accumulator.value_or(Format::F64));
  int half = (bits + 3) / 2;
  if (half > signature.terms.maxExponent - 2 ||
      -half < signature.terms.minExponent)
    throw Undetermined(fmt::format("{} has too short a range to hide a unit in "
                                   "an accumulator of {} bits",
                                   algebra::name(signature.element), bits));
  big = std::ldexp(1.0, half);
  unit = std::ldexp(1.0, -half);
}

std::vector<bool> Cancellation::ask(const std::vector<Triple> &triples) {
  questions.say("triples");
  std::vector<bool> answers;
  constexpr size_t slice = 32768;
  for (size_t begin = 0; begin < triples.size(); begin += slice) {
    size_t end = std::min(triples.size(), begin + slice);
    std::vector<Query> rows;
    for (size_t t = begin; t < end; ++t) {
      auto [i, j, k] = triples[t];
      int64_t reader = 0;
      while (reader == i || reader == j || reader == k)
        ++reader;
      rows.push_back({0, nullptr, {{i, unit}, {j, big}, {k, -big}}, reader});
    }
    std::vector<double> readings = questions.ask(rows);
    for (size_t k = 0; k < readings.size(); ++k) {
      double reading = readings[k];
      if (reading != 0 && !seen)
        seen = reading;
      if (reading != 0 && reading != *seen)
        throw Undetermined(fmt::format(
            "with +M at x{}, -M at x{} and a unit at x{} the result is {:.9g}, "
            "neither 0 nor {:.9g}",
            triples[begin + k].j, triples[begin + k].k, triples[begin + k].i,
            reading, *seen));
      answers.push_back(reading != 0);
    }
  }
  return answers;
}

} // namespace bitpact::reveal
