// ArithmeticTest.cpp - conversions exhaustively, arithmetic against MPFR
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Arithmetic.h"

#include <catch2/catch.hpp>
#include <mpfr.h>

#include <random>

using namespace bitpact::reference;
using bitpact::algebra::precision;

/// Rounding as its definition says: to the grid of the value's binade.
static double nearestOnGrid(Format format, double value) {
  int minNormal = format == Format::F16 ? -14 : -126;
  double largest = format == Format::F16    ? 65504
                   : format == Format::BF16 ? 0x1.fep127
                                            : 0x1.fffffep127;
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), minNormal);
  double unit = std::ldexp(1, exponent - precision(format) + 1);
  double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) > largest)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return std::copysign(rounded, value);
}

static bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : a == b && std::signbit(a) == std::signbit(b);
}

/// The exact value of an operation, rounded once by MPFR. `operation` writes it
/// to more bits than any sum or product has.
template <class Operation>
static double byMpfr(Format format, Operation &&operation) {
  mpfr_t exact;
  mpfr_init2(exact, 4400);
  operation(exact);
  double result;
  if (format == Format::F64) {
    result = mpfr_get_d(exact, MPFR_RNDN);
  } else {
    mpfr_t narrow;
    mpfr_init2(narrow, precision(format));
    int minNormal = format == Format::F16 ? -14 : -126;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(minNormal + 2 - precision(format));
    mpfr_set_emax(format == Format::F16 ? 16 : 128);
    int inexact = mpfr_set(narrow, exact, MPFR_RNDN);
    inexact = mpfr_check_range(narrow, inexact, MPFR_RNDN);
    mpfr_subnormalize(narrow, inexact, MPFR_RNDN);
    result = mpfr_get_d(narrow, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(narrow);
  }
  mpfr_clear(exact);
  return result;
}

TEST_CASE("all 16-bit values decode and encode to themselves") {
  for (Format format : {Format::BF16, Format::F16}) {
    int wrong = 0, nans = 0;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      double value = decode(format, bits);
      nans += std::isnan(value);
      uint64_t expected = std::isnan(value) ? canonicalNaN(format) : bits;
      wrong += encode(format, value) != expected;
    }
    CHECK(wrong == 0);
    // NaNs: all fractions but zero with the largest exponent, two signs.
    CHECK(nans == (format == Format::F16 ? 2 * 1023 : 2 * 127));
  }
  CHECK(decode(Format::F16, 0x3c01) == 1 + 0x1p-10);
  CHECK(decode(Format::F16, 0x0001) == 0x1p-24);
  CHECK(decode(Format::F16, 0x7bff) == 65504);
  CHECK(decode(Format::BF16, 0x0001) == 0x1p-133);
  CHECK(decode(Format::BF16, 0x3f81) == 1 + 0x1p-7);
  CHECK(decode(Format::BF16, 0xff80) ==
        -std::numeric_limits<double>::infinity());
}

TEST_CASE("every rounding boundary of the 16-bit formats") {
  // Between neighbours the result changes only at the middle, so the middle and
  // the doubles beside it decide every value.
  for (Format format : {Format::BF16, Format::F16}) {
    uint64_t infinity = format == Format::F16 ? 0x7c00 : 0x7f80;
    double step = format == Format::F16 ? 32 : 0x1p120; // to "infinity"
    int wrong = 0;
    for (uint64_t bits = 0; bits < infinity; ++bits) {
      double low = decode(format, bits);
      double high =
          bits + 1 == infinity ? low + step : decode(format, bits + 1);
      double middle = low + (high - low) / 2;
      uint64_t even = bits & 1 ? bits + 1 : bits;
      double below = std::nextafter(middle, 0);
      double above = std::nextafter(middle, 0x1p1000);
      wrong += encode(format, below) != bits;
      wrong += encode(format, middle) != even;
      wrong += encode(format, above) != bits + 1;
      wrong += encode(format, -below) != (bits | 0x8000);
      wrong += encode(format, -middle) != (even | 0x8000);
      wrong += encode(format, -above) != ((bits + 1) | 0x8000);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("rounding f32 and f64 values agrees with the grid's definition") {
  int wrong = 0;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 4093) {
    double value = decode(Format::F32, bits);
    for (Format format : {Format::BF16, Format::F16})
      wrong += !same(roundTo(format, value), nearestOnGrid(format, value));
  }
  CHECK(wrong == 0);
  std::mt19937_64 random(1);
  for (int i = 0; i < 300000; ++i) {
    // Exponents around the formats' range.
    uint64_t bits =
        (random() & 0x800fffffffffffff) | ((1023 - 170 + random() % 320) << 52);
    double value = std::bit_cast<double>(bits);
    for (Format format : {Format::BF16, Format::F16, Format::F32})
      wrong += !same(roundTo(format, value), nearestOnGrid(format, value));
  }
  CHECK(wrong == 0);
  CHECK(encode(Format::F16, 0x1p-1060) == 0); // an f64 subnormal
  CHECK(encode(Format::BF16, -0x1p-1060) == 0x8000);
}

TEST_CASE("NaNs are stored canonically") {
  double negative = std::bit_cast<double>(0xfff8dead00000001);
  CHECK(encode(Format::F64, negative) == 0x7ff8000000000000);
  CHECK(encode(Format::F32, negative) == 0x7fc00000);
  CHECK(encode(Format::F16, negative) == 0x7e00);
  CHECK(encode(Format::BF16, negative) == 0x7fc0);
  CHECK(std::isnan(decode(Format::F16, 0xfc01)));
  CHECK(std::isnan(roundTo(Format::BF16, negative)));
}

template <Format F> static void againstMpfr(int trials) {
  std::mt19937_64 random(static_cast<unsigned>(F) + 7);
  int wrong = 0;
  auto draw = [&]() -> double {
    uint64_t mask = F == Format::F64   ? ~uint64_t(0)
                    : F == Format::F32 ? 0xffffffff
                                       : 0xffff;
    double value;
    do {
      value = decode(F, random() & mask);
      // Half of the values near one, so that sums cancel and round.
      if (random() & 1 && value != 0)
        value = roundTo<F>(std::ldexp(value, static_cast<int>(random() % 12) -
                                                 std::ilogb(value)));
    } while (!std::isfinite(value));
    return value;
  };
  for (int i = 0; i < trials; ++i) {
    double a = draw(), b = draw(), c = draw();
    auto check = [&](double got, auto &&exact) {
      double expected = byMpfr(F, [&](mpfr_t out) {
        mpfr_set_d(out, a, MPFR_RNDN);
        exact(out);
      });
      // A zero's sign is not MPFR's to say; other tests look at signs.
      wrong += !(got == expected);
    };
    check(add<F>(a, b), [&](mpfr_t o) { mpfr_add_d(o, o, b, MPFR_RNDN); });
    check(sub<F>(a, b), [&](mpfr_t o) { mpfr_sub_d(o, o, b, MPFR_RNDN); });
    check(mul<F>(a, b), [&](mpfr_t o) { mpfr_mul_d(o, o, b, MPFR_RNDN); });
    check(product(F, a, b), [&](mpfr_t o) { mpfr_mul_d(o, o, b, MPFR_RNDN); });
    if (b != 0)
      check(div<F>(a, b), [&](mpfr_t o) { mpfr_div_d(o, o, b, MPFR_RNDN); });
    if (a >= 0)
      check(bitpact::reference::sqrt<F>(a),
            [&](mpfr_t o) { mpfr_sqrt(o, o, MPFR_RNDN); });
    check(fma<F>(a, b, c), [&](mpfr_t o) {
      mpfr_mul_d(o, o, b, MPFR_RNDN);
      mpfr_add_d(o, o, c, MPFR_RNDN);
    });
  }
  CHECK(wrong == 0);
}

TEST_CASE("arithmetic of every format is correctly rounded") {
  againstMpfr<Format::BF16>(20000);
  againstMpfr<Format::F16>(20000);
  againstMpfr<Format::F32>(20000);
  againstMpfr<Format::F64>(5000);
}

TEST_CASE("a product of f64 rounds once to f32") {
  // (1 + 2^-24 + 2^-52) * 1 is above the tie; a detour that lost 2^-52 is not.
  CHECK(product(Format::F32, 1 + 0x1p-24 + 0x1p-52, 1) == 1 + 0x1p-23);
  CHECK(product(Format::F32, 1 + 0x1p-24, 1) == 1);
  // (1 + 2^-12 + 2^-40)^2 = 1 + 2^-11 + 2^-24 + 2^-39 + 2^-51 + 2^-80.
  double a = 1 + 0x1p-12 + 0x1p-40;
  CHECK(product(Format::F32, a, a) == 1 + 0x1p-11 + 0x1p-23);
  CHECK(std::signbit(product(Format::F32, -0.0, 1)));
  CHECK_FALSE(std::signbit(product(Format::BF16, -0.0, -1)));
}

TEST_CASE("maximum and minimum of IEEE 754-2019") {
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(maximum(nan, 1)));
  CHECK(std::isnan(maximum(1, nan)));
  CHECK(std::isnan(minimum(nan, -INFINITY)));
  CHECK(same(maximum(-0.0, +0.0), +0.0));
  CHECK(same(maximum(+0.0, -0.0), +0.0));
  CHECK(same(maximum(-0.0, -0.0), -0.0));
  CHECK(same(minimum(+0.0, -0.0), -0.0));
  CHECK(maximum(-3, 2) == 2);
  CHECK(minimum(-3, 2) == -3);
}
