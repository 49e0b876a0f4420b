// Functions.cpp - what a primitive approximates, in f64 and in MPFR
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/primitives/Functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mpfr.h>

namespace bitpact::primitives {
namespace {

// Half-way between the largest f32 and 2^128: what is not below rounds to Inf.
constexpr double overflow = 0x1.ffffffp127;

struct Number {
  Number() { mpfr_init2(value, 256); }
  ~Number() { mpfr_clear(value); }
  Number(const Number &) = delete;
  mpfr_t value;
};

void compute(Function function, double x, mpfr_t out) {
  if (function == Function::ExpBelow || function == Function::Exp2Below)
    x = std::min(x, 0.0);
  mpfr_set_d(out, x, MPFR_RNDN);
  switch (function) {
  case Function::Exp:
  case Function::ExpBelow:
    mpfr_exp(out, out, MPFR_RNDN);
    break;
  case Function::Exp2:
  case Function::Exp2Below:
    mpfr_exp2(out, out, MPFR_RNDN);
    break;
  case Function::Log:
    mpfr_log(out, out, MPFR_RNDN);
    break;
  case Function::Rsqrt:
    mpfr_rec_sqrt(out, out, MPFR_RNDN);
    break;
  case Function::Sigmoid:
  case Function::Silu: {
    Number e;
    mpfr_neg(e.value, out, MPFR_RNDN);
    mpfr_exp(e.value, e.value, MPFR_RNDN);
    mpfr_add_ui(e.value, e.value, 1, MPFR_RNDN);
    if (function == Function::Sigmoid)
      mpfr_ui_div(out, 1, e.value, MPFR_RNDN);
    else
      mpfr_div(out, out, e.value, MPFR_RNDN);
  }
  }
}

/// Exponent of one ulp of f32 at a number in [2^exponent, 2^(exponent+1)).
int ulpExponent(int exponent) { return std::clamp(exponent, -126, 127) - 23; }

} // namespace

std::optional<Purpose> purposeOf(const std::string &name) {
  constexpr double all = -std::numeric_limits<double>::infinity();
  static const std::map<std::string, Function> functions{
      {"exp", Function::Exp},
      {"exp_diff", Function::Exp},
      {"exp_below", Function::ExpBelow},
      {"exp2", Function::Exp2},
      {"exp2_below", Function::Exp2Below},
      {"log", Function::Log},
      {"sigmoid", Function::Sigmoid},
      {"silu", Function::Silu},
      {"rsqrt", Function::Rsqrt}};
  auto found = functions.find(name.substr(0, name.find('.')));
  if (found == functions.end())
    return std::nullopt;
  double above = name.starts_with("exp2.poly")     ? -125.5
                 : name.starts_with("silu.newton") ? -86
                                                   : all;
  return Purpose{found->second, above};
}

double nearTruth(Function function, double x) {
  switch (function) {
  case Function::Exp:
    return std::exp(x);
  case Function::ExpBelow:
    return x >= 0 ? 1 : std::exp(x);
  case Function::Exp2:
    return std::exp2(x);
  case Function::Exp2Below:
    return x >= 0 ? 1 : std::exp2(x);
  case Function::Log:
    return std::log(x);
  case Function::Rsqrt:
    return 1 / std::sqrt(x);
  case Function::Sigmoid: {
    double e = std::exp(-std::fabs(x));
    return (x >= 0 ? 1 : e) / (1 + e);
  }
  case Function::Silu: {
    if (std::isinf(x) && x < 0)
      return -0.0; // the limit
    double e = std::exp(-std::fabs(x));
    return (x >= 0 ? x : x * e) / (1 + e);
  }
  }
  return 0;
}

double errorAgainst(double truth, double result) {
  if (std::isinf(result)) {
    if (std::fabs(truth) >= overflow)
      return std::signbit(truth) == std::signbit(result)
                 ? 0
                 : std::numeric_limits<double>::infinity();
    result = std::copysign(0x1p128, result);
  }
  // ilogb and ldexp, for exponents that f64 has.
  int exponent = int(std::bit_cast<uint64_t>(truth) >> 52 & 0x7ff) - 1023;
  uint64_t scale = 1023 - ulpExponent(exponent);
  return std::fabs(result - truth) * std::bit_cast<double>(scale << 52);
}

double exactError(Function function, double x, double result) {
  Number truth, difference;
  compute(function, x, truth.value);
  if (std::isinf(result)) {
    Number edge;
    mpfr_set_d(edge.value, std::copysign(overflow, result), MPFR_RNDN);
    int order = mpfr_cmp(truth.value, edge.value);
    if (result > 0 ? order >= 0 : order <= 0)
      return 0;
    result = std::copysign(0x1p128, result);
  }
  mpfr_d_sub(difference.value, result, truth.value, MPFR_RNDN);
  // MPFR's significands lie in [1/2, 1).
  long exponent =
      mpfr_zero_p(truth.value) ? -126
      : mpfr_inf_p(truth.value)
          ? 127
          : std::clamp<long>(mpfr_get_exp(truth.value) - 1, -200, 200);
  mpfr_mul_2si(difference.value, difference.value,
               -ulpExponent(static_cast<int>(exponent)), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.value, MPFR_RNDN));
}

bool nearTruthHolds(Function function, double x) {
  double near = nearTruth(function, x);
  if (!std::isfinite(near) || std::fabs(near) < 0x1p-900)
    return true; // far outside of f32 on either side
  Number truth;
  compute(function, x, truth.value);
  mpfr_sub_d(truth.value, truth.value, near, MPFR_RNDN);
  double difference = std::fabs(mpfr_get_d(truth.value, MPFR_RNDN));
  return difference <= 4 * std::ldexp(1.0, std::ilogb(near) - 52);
}

} // namespace bitpact::primitives
