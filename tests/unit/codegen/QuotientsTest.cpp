// QuotientsTest.cpp - quotients with one test for several are rounded correctly
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Quotients.h"
#include "tests/unit/codegen/QuotientText.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace bitpact::codegen;
using bitpact::tests::QuotientText;

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static bool isNaN(uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

namespace {

struct Pair {
  float over, under;
  uint32_t quotient; // bits
};

/// Pairs are collected until there are enough for all lanes of a text.
class Comparison {
public:
  Comparison(const std::string &text, QuotientGroup group,
             std::vector<int> neighbours)
      : text(text), group(group), neighbours(std::move(neighbours)) {}

  void add(const Pair &pair) {
    pairs.push_back(pair);
    if (pairs.size() == size_t(group.count) * QuotientText::kLanes)
      flush();
  }
  void add(float over, float under) {
    add({over, under, bitsOf(over / under)});
  }
  /// Those that are left, the last one repeated.
  uint64_t finish() {
    while (!pairs.empty())
      add(Pair(pairs.back()));
    return wrong;
  }

  uint64_t compared = 0, unusual = 0;
  std::string first; // of those that are wrong

private:
  void flush() {
    unsigned n = group.count;
    auto pairAt = [&](unsigned i, size_t lane) -> const Pair & {
      return pairs[lane * n + i];
    };
    for (size_t lane = 0; lane < QuotientText::kLanes; ++lane)
      for (unsigned i = 0; i < n; ++i) {
        text.operand(n + i)[lane] = bitsOf(pairAt(i, lane).over);
        text.operand(2 * n + (group.hasOneDivisor ? 0 : i))[lane] =
            bitsOf(pairAt(i, lane).under);
      }
    for (int neighbour : neighbours) {
      text.run(neighbour);
      for (unsigned i = 0; i < n; ++i)
        for (size_t lane = 0; lane < QuotientText::kLanes; ++lane) {
          uint32_t is = text.operand(i)[lane], want = pairAt(i, lane).quotient;
          if (is != want && !(isNaN(is) && isNaN(want)) && !wrong++)
            describe(pairAt(i, lane), is, neighbour);
        }
      for (uint32_t usual : text.usual())
        unusual += !usual;
    }
    compared += pairs.size();
    pairs.clear();
  }
  void describe(const Pair &pair, uint32_t is, int neighbour) {
    char line[160];
    snprintf(line, sizeof line, "%a / %a, neighbour %d: %08x instead of %08x",
             double(pair.over), double(pair.under), neighbour, is,
             pair.quotient);
    first = line;
  }

  QuotientText text;
  QuotientGroup group;
  std::vector<int> neighbours;
  std::vector<Pair> pairs;
  uint64_t wrong = 0;
};

/// Dividends whose quotients by `divisor`, an integer of 24 bits, are nearest
/// to the middle between two floats: A 2^(s+1) = M B + j with M odd and of 25
/// bits, so that A/B is M/2 2^-s and j / 2B of a place more. Within |j| <= 5
/// lie all that the steps could round wrongly (docs/rationale/0026).
template <typename Take> void nearestToMiddles(uint32_t divisor, Take take) {
  int zeros = __builtin_ctz(divisor);
  uint32_t odd = divisor >> zeros, inverse = odd;
  for (int i = 0; i < 4; ++i) // doubles the bits that are right
    inverse *= 2 - odd * inverse;
  for (int s : {23, 24})
    for (int j = -5; j <= 5; ++j) {
      if (j == 0 || (j & ((1 << zeros) - 1)) || !((j >> zeros) & 1))
        continue;
      uint64_t step = uint64_t(1) << (s + 1 - zeros), least = 1u << 24;
      uint64_t middle = (0 - uint64_t(int64_t(j >> zeros)) * inverse) % step;
      middle += (least - std::min(least, middle) + step - 1) / step * step;
      for (; middle < 2 * least; middle += step) {
        uint64_t dividend =
            (middle * divisor + uint64_t(int64_t(j))) >> (s + 1);
        bool belongs = s == 24 ? dividend < divisor : dividend >= divisor;
        if (dividend >> 23 == 1 && belongs)
          take(Pair{
              float(dividend), float(divisor),
              bitsOf(std::ldexp(float((middle + (j > 0 ? 1 : -1)) / 2), -s))});
      }
    }
}

uint64_t compareMiddles(Comparison &comparison, uint32_t from, uint32_t step) {
  for (uint32_t divisor = from; divisor < 1u << 24; divisor += step)
    nearestToMiddles(divisor, [&](const Pair &pair) { comparison.add(pair); });
  return comparison.finish();
}

constexpr QuotientGroup kSeparate{kMostQuotients, false},
    kCommon{kMostQuotients, true};

} // namespace

TEST_CASE("what is nearest to a middle is, and the integers say so") {
  unsigned count = 0;
  for (uint32_t divisor = 1u << 23; divisor < 1u << 24; divisor += 65537)
    nearestToMiddles(divisor, [&](const Pair &pair) {
      CHECK(pair.quotient == bitsOf(pair.over / pair.under));
      double exact = double(pair.over) / double(pair.under),
             place = exact < 1 ? 0x1p-24 : 0x1p-23,
             part = std::fmod(exact / place, 1.0);
      CHECK(std::fabs(part - 0.5) < 2.6 / double(pair.under) + 1e-9);
      ++count;
    });
  CHECK(count > 128);
}

TEST_CASE("quotients nearest to midpoints, by each reciprocal within 1 ulp") {
  // Without it every divisor whose reciprocal has least room, and each 17th.
  bool all = std::getenv("BITPACT_ALL_DIVISORS");
  Comparison comparison(quotientsText(kSeparate), kSeparate, {0, -1, 1, -2, 2});
  uint64_t wrong =
      compareMiddles(comparison, 1u << 23, all ? 1 : 17) +
      (all ? 0 : compareMiddles(comparison, (1u << 24) - (1u << 17), 1));
  INFO(comparison.first);
  CHECK(wrong == 0);
  CHECK(comparison.unusual == 0);
  CHECK(comparison.compared > (all ? 29'000'000u : 1'000'000u));
}

TEST_CASE("each step of a quotient is needed") {
  auto wrongWithout = [](const std::string &line, const std::string &instead,
                         uint32_t from, uint32_t step) {
    std::string text = quotientsText(kSeparate);
    for (unsigned i = 0; i < kMostQuotients; ++i) {
      std::string was, is;
      for (auto [form, made] : {std::pair(&line, &was), {&instead, &is}})
        for (char c : *form)
          *made += c == '#' ? std::to_string(i) : std::string(1, c);
      size_t at = text.find(was);
      REQUIRE(at != text.npos);
      text.replace(at, was.size(), is);
    }
    Comparison comparison(text, kSeparate, {-1, 0, 1});
    return compareMiddles(comparison, from, step);
  };
  uint32_t some = (1u << 23) + 1;
  CHECK(wrongWithout("fma.rn.f32 q#, rest, near#, q#;\n", "", some, 1001) > 0);
  CHECK(wrongWithout("fma.rn.f32 near#, rest, near#, near#;\n", "", some,
                     1001) > 0);
  // Of one divisor alone, and the reciprocal below the nearest.
  CHECK(wrongWithout("fma.rp.f32 rest, rest, rest, rest;\n", "", some, 1001) ==
        0);
  CHECK(wrongWithout("fma.rp.f32 rest, rest, rest, rest;\n", "", (1u << 24) - 1,
                     1) > 0);
  CHECK(wrongWithout("fma.rp.f32", "fma.rn.f32", (1u << 24) - 1, 1) > 0);
}

TEST_CASE("quotients of all sizes within the bounds") {
  std::mt19937_64 random(1);
  for (QuotientGroup group : {kSeparate, kCommon}) {
    Comparison comparison(quotientsText(group), group, {-1, 0, 1});
    auto fraction = [&] {
      return float(random() % (1u << 23) | 1u << 23) *
             (random() % 2 ? 0x1p-23f : -0x1p-23f);
    };
    float under = 1;
    for (unsigned i = 0; i < 1u << 20; ++i) {
      int size = int(random() % 156) - 120;
      if (i % kMostQuotients == 0 || !group.hasOneDivisor)
        under = std::ldexp(fraction(), size);
      // No larger than the bound by it.
      int exponent = std::ilogb(under), least = std::max(-88, exponent - 120),
          most = std::min(exponent + 34, 126);
      comparison.add(
          std::ldexp(fraction(),
                     least + int(random() % unsigned(most - least + 1))),
          under);
    }
    uint64_t wrong = comparison.finish();
    INFO(comparison.first);
    CHECK(wrong == 0);
    CHECK(comparison.unusual == 0);
  }
}

TEST_CASE("a group that has one value beyond the bounds is divided") {
  std::vector<float> values = {0.0f,      1.0f,      1.5f,      3.0f,
                               0x1p-149f, 0x1p-127f, 0x1p-126f, 0x1p-125f,
                               0x1p126f,  0x1p127f,  INFINITY,  NAN};
  for (float bound : {kLeastOver, kMostSize, 1 / kMostSize, 0x1p-124f})
    for (float value :
         {bound, std::nextafter(bound, 0.0f), std::nextafter(bound, INFINITY),
          bound * 0.5f, bound * 2.0f, bound * 1.99f})
      values.push_back(value);
  for (size_t i = 0, n = values.size(); i < n; ++i)
    values.push_back(-values[i]);
  auto isUsual = [](float over, float under) {
    float quotient = over / under;
    bool isZero = over == 0 && !std::signbit(over);
    return std::fabs(under) >= 0x1p-126f && std::fabs(under) <= kMostSize &&
           std::fabs(quotient) <= kMostSize &&
           (isZero || std::fabs(over) >= kLeastOver);
  };
  for (QuotientGroup group : {kSeparate, kCommon})
    for (unsigned place : {0u, kMostQuotients / 2, kMostQuotients - 1}) {
      Comparison comparison(quotientsText(group), group, {-1, 0, 1});
      uint64_t unusual = 0, lanes = 0;
      for (float over : values)
        for (float under : values) {
          float other = group.hasOneDivisor ? under : 1.0f;
          float beside = group.hasOneDivisor ? over : 3.0f;
          for (unsigned i = 0; i < kMostQuotients; ++i)
            i == place ? comparison.add(over, under)
                       : comparison.add(beside, other);
          unusual += !isUsual(over, under);
          ++lanes;
        }
      while (lanes++ % QuotientText::kLanes)
        for (unsigned i = 0; i < kMostQuotients; ++i)
          comparison.add(1.0f, 3.0f);
      uint64_t wrong = comparison.finish();
      INFO(comparison.first);
      CHECK(wrong == 0);
      CHECK(comparison.unusual == 3 * unusual);
    }
}

TEST_CASE("only the text of a group is one") {
  for (unsigned count = 2; count <= kMostQuotients; ++count)
    for (bool hasOneDivisor : {false, true}) {
      std::string text = quotientsText({count, hasOneDivisor});
      CHECK(isQuotients(text));
      CHECK_FALSE(isQuotients(text + "\nex2.approx.f32 $0, $0;"));
      CHECK_FALSE(isQuotients(text.substr(0, text.size() - 1)));
    }
  CHECK_FALSE(isQuotients(""));
  CHECK_FALSE(isQuotients(quotientsText({kMostQuotients + 1, false})));
}
