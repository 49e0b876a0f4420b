// Functions.h - what a primitive approximates, in f64 and in MPFR
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_PRIMITIVES_FUNCTIONS_H
#define BITPACT_TESTS_PRIMITIVES_FUNCTIONS_H

#include <optional>
#include <string>

namespace bitpact::primitives {

/// A second argument of a primitive is m; errors are measured at m = 0.
enum class Function {
  Exp,
  Exp2,
  ExpBelow,
  Exp2Below,
  Log,
  Sigmoid,
  Silu,
  Rsqrt
};

struct Purpose {
  Function function;
  /// Errors are measured above it; a cheap primitive is constant below.
  double above;
};

/// By the name of the primitive, or nothing for one that has no function.
std::optional<Purpose> purposeOf(const std::string &name);

/// The function in f64, by the C library. glibc's manual states 1 ulp for exp,
/// exp2 and log; with at most three more operations the result is within 4 ulp
/// of f64, which is 2^-26 ulp of f32.
double nearTruth(Function function, double x);
constexpr double nearSlack = 0x1p-25; ///< twice that, in ulp of f32

/// |result - f(x)| in ulp of f32 at f(x), f(x) from MPFR with 256 bits. An
/// infinite result counts as 2^128, and as correct from where f32 overflows.
double exactError(Function function, double x, double result);

/// The same with f(x) as `truth`; within `nearSlack` for a near truth that is
/// not next to a power of two.
double errorAgainst(double truth, double result);

/// Whether `nearTruth` is within 4 ulp of f64 at x, says MPFR.
bool nearTruthHolds(Function function, double x);

} // namespace bitpact::primitives

#endif // BITPACT_TESTS_PRIMITIVES_FUNCTIONS_H
