// DotModelTest.cpp - atoms against their formulas in arbitrary precision
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/DotAtom.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mpfr.h>
#include <random>
#include <string>
#include <vector>

using bitpact::algebra::Atom;
using bitpact::algebra::Format;
using bitpact::reference::dotStep;

namespace {

/// A number with room for every sum of products of f32 values.
class Exact {
public:
  explicit Exact(double value = 0) {
    mpfr_init2(number, 2000);
    mpfr_set_d(number, value, MPFR_RNDN);
  }
  Exact(const Exact &) = delete;
  Exact &operator=(const Exact &) = delete;
  ~Exact() { mpfr_clear(number); }

  void add(const Exact &other) {
    mpfr_add(number, number, other.number, MPFR_RNDN);
  }
  void multiply(double factor) {
    mpfr_mul_d(number, number, factor, MPFR_RNDN);
  }
  /// To a multiple of 2^unit.
  void toUnit(int unit, mpfr_rnd_t rounding) {
    mpfr_mul_2si(number, number, -unit, MPFR_RNDN);
    mpfr_rint(number, number, rounding);
    mpfr_mul_2si(number, number, unit, MPFR_RNDN);
  }
  bool isZero() const { return mpfr_zero_p(number); }
  /// e of |x| = 1.f * 2^e.
  int exponent() const { return static_cast<int>(mpfr_get_exp(number)) - 1; }
  double get(mpfr_rnd_t rounding) const { return mpfr_get_d(number, rounding); }

private:
  mpfr_t number;
};

int exponentOf(double value, int smallest) {
  return value == 0 ? smallest : std::max(std::ilogb(value), smallest);
}

struct Step {
  std::vector<double> a, b;
  double accumulator;
  int smallest; ///< exponent of the format's smallest normal
  /// Of the largest product; nothing but zeros: less than any.
  int largest() const {
    int result = -100000;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] * b[i] != 0)
        result = std::max(result, exponentOf(a[i], smallest) +
                                      exponentOf(b[i], smallest));
    return result;
  }
  void sumInto(Exact &sum, int unit) const {
    for (size_t i = 0; i < a.size(); ++i) {
      Exact product(a[i]);
      product.multiply(b[i]);
      product.toUnit(unit, MPFR_RNDZ);
      sum.add(product);
    }
  }
};

double nvByFormula(const Step &step, int fraction) {
  int top = std::max(step.largest(), -108 - fraction);
  if (step.accumulator != 0)
    top = std::max(top, exponentOf(step.accumulator, -126));
  Exact sum, start(step.accumulator);
  step.sumInto(sum, top - fraction);
  start.toUnit(top - fraction, MPFR_RNDZ);
  sum.add(start);
  if (sum.isZero())
    return 0;
  sum.toUnit(std::max(sum.exponent(), -126) - 23, MPFR_RNDZ);
  double value = sum.get(MPFR_RNDZ);
  return std::fabs(value) >= 0x1p128 ? std::copysign(INFINITY, value)
         : value == 0                ? 0
                                     : value;
}

double cdna3ByFormula(const Step &step) {
  int top = step.largest();
  Exact sum, start(step.accumulator);
  if (top != -100000)
    step.sumInto(sum, top - 24);
  top = std::max(top, exponentOf(step.accumulator, -126));
  sum.toUnit(top - 32, MPFR_RNDD);
  start.toUnit(top - 24, MPFR_RNDD);
  sum.add(start);
  if (sum.isZero())
    return 0;
  sum.toUnit(std::max(sum.exponent(), -126) - 31, MPFR_RNDD);
  if (sum.isZero())
    return 0;
  sum.toUnit(std::max(sum.exponent(), -126) - 23, MPFR_RNDN);
  double value = sum.get(MPFR_RNDN);
  return std::fabs(value) >= 0x1p128 ? std::copysign(INFINITY, value) : value;
}

double small(std::mt19937_64 &random, Format format, int spread) {
  int digits = format == Format::F16 ? 11 : 8;
  int smallest = format == Format::F16 ? -14 : -126;
  int largest = format == Format::F16 ? 15 : 127;
  if (random() % 9 == 0)
    return 0;
  int64_t significand =
      static_cast<int64_t>(random() % (int64_t(1) << digits)) *
      (random() % 2 ? 1 : -1);
  int exponent =
      std::clamp(static_cast<int>(random() % (2 * spread + 1)) - spread,
                 smallest, largest - 1);
  return std::ldexp(static_cast<double>(significand), exponent - digits + 1);
}

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

int differences(const char *name, Format format, uint64_t seed, int count,
                double (*formula)(const Step &)) {
  Atom atom = Atom::parse(name);
  std::mt19937_64 random(seed);
  int differing = 0;
  for (int i = 0; i < count; ++i) {
    Step step;
    step.smallest = format == Format::F16 ? -14 : -126;
    int spread = i % 3 == 0 ? 2 : i % 3 == 1 ? 14 : 126;
    int64_t terms = 1 + random() % atom.terms;
    for (int64_t k = 0; k < terms; ++k) {
      step.a.push_back(small(random, format, spread));
      step.b.push_back(small(random, format, spread));
    }
    double wide = small(random, Format::BF16, spread) +
                  small(random, Format::BF16, spread);
    step.accumulator = i % 5 ? static_cast<float>(wide) : 0;
    // What is infinite has rules of its own.
    bool finite = std::isfinite(step.accumulator);
    for (int64_t k = 0; k < terms; ++k)
      finite = finite && std::fabs(step.a[k] * step.b[k]) < 0x1p128;
    if (finite)
      differing += bits(dotStep(atom, format, step.a.data(), step.b.data(),
                                static_cast<int>(terms), step.accumulator)) !=
                   bits(formula(step));
  }
  return differing;
}

double nv25(const Step &step) { return nvByFormula(step, 25); }
double nv24(const Step &step) { return nvByFormula(step, 24); }

} // namespace

TEST_CASE("every atom is its formula") {
  constexpr int count = 60000;
  for (Format format : {Format::BF16, Format::F16}) {
    CHECK(differences("dot.nv(16,25)", format, 1, count, nv25) == 0);
    CHECK(differences("dot.nv(8,25)", format, 2, count, nv25) == 0);
    CHECK(differences("dot.nv(8,24)", format, 3, count, nv24) == 0);
    CHECK(differences("dot.cdna3", format, 4, count, cdna3ByFormula) == 0);
    // Witnesses: these steps tell the atoms apart.
    CHECK(differences("dot.nv(8,24)", format, 5, count, nv25) > count / 100);
    CHECK(differences("dot.cdna3", format, 6, count, nv24) > count / 100);
  }
}

TEST_CASE("dot.cdna3 by hand") {
  Atom atom = Atom::parse("dot.cdna3");
  auto step = [&](std::vector<double> a, std::vector<double> b, double c) {
    return dotStep(atom, Format::BF16, a.data(), b.data(),
                   static_cast<int>(a.size()), c);
  };
  // Beside 2^23, units of products are 2^-1: -0.25 and -0.125 are lost. The
  // published model's own example.
  CHECK(step({-0x1p13, -0.5, -0.25, -0.125}, {0x1p10, 1, 1, 1}, 0x1p23) ==
        -0.5);
  // The accumulator is rounded down to 2^-24 beside 1, so a small negative one
  // becomes -2^-24: 1 - 2^-24 is a f32.
  CHECK(step({1}, {1}, -0x1p-100) == 1 - 0x1p-24);
  CHECK(step({1}, {1}, 0x1p-100) == 1);
  // Products far below the accumulator are rounded down as well: 2^-32 of it.
  CHECK(step({-0x1p-50}, {0x1p-50}, 1) == 1); // 1 - 2^-32 is nearest to 1
  CHECK(step({0x1p-12, 0x1p-50}, {0x1p-12, 0x1p-50}, 1) == 1); // tie to even
  // To nearest even, not toward zero: 1 + 2^-23 + 2^-24.
  CHECK(step({0x1p-12}, {0x1p-12}, 1 + 0x1p-23) == 1 + 0x1p-22);
  CHECK(step({0x1p64}, {0x1p64}, 0) == INFINITY);
  CHECK(std::isnan(step({0x1p64, 0x1p64}, {0x1p64, -0x1p64}, 0)));
  CHECK(std::isnan(step({INFINITY}, {0}, 1)));
  CHECK(bits(step({-0.0}, {1}, -0.0)) == bits(0.0));
}
