// Sweep.h - a primitive on many inputs: kernels, evaluator, truth
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_PRIMITIVES_SWEEP_H
#define BITPACT_TESTS_PRIMITIVES_SWEEP_H

#include "contracts/reference/Primitive.h"
#include "tests/primitives/Functions.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace bitpact::primitives {

/// Every f32 has a number: -NaN ... -Inf ... -0, +0 ... +Inf ... +NaN.
inline uint32_t bitsOf(uint32_t ordinal) {
  return ordinal >> 31 ? ordinal & 0x7fffffff : ~ordinal;
}
inline uint32_t ordinalOf(uint32_t bits) {
  return bits >> 31 ? ~bits : bits | 0x80000000;
}

/// Inputs to visit, ascending in their ordinals.
class Inputs {
public:
  /// Each stride-th of all 2^32.
  explicit Inputs(uint32_t step);
  /// Each stride-th, and the neighbours of powers of two, of halves of small
  /// integers and of everything special.
  static Inputs sample(uint32_t step);

  uint64_t size() const { return listed.empty() ? count : listed.size(); }
  /// Bits of inputs first, first + 1, …
  void fill(uint64_t first, std::span<uint32_t> bits) const;

private:
  uint32_t stride;
  uint64_t count;
  std::vector<uint32_t> listed; // ordinals
};

struct Findings {
  uint64_t inputs = 0;
  /// Results for which the sign, being NaN or being infinite is wrong.
  uint64_t wrong = 0;
  uint32_t firstWrong = 0;
  /// Largest error and the first input at which it occurs; the error is 0 if
  /// every result is within 0.4999 ulp.
  double error = 0;
  uint32_t worst = 0;
  /// Neighbours x < x' with f(x) > f(x'), and with f(x) < f(x').
  uint64_t falls = 0, rises = 0;
  /// The first x' of each.
  uint32_t firstFall = 0, firstRise = 0;
  /// Sampled inputs at which the C library was not within its bound.
  uint64_t doubts = 0;
};

/// Evaluates a primitive with the reference evaluator and measures it. Several
/// threads may run blocks at once.
class Sweep {
public:
  Sweep(const reference::Primitive &toRun, std::optional<Purpose> whatFor)
      : primitive(toRun), purpose(whatFor) {}

  /// results[i] = bits of primitive(inputs[i], second), where it takes a
  /// second argument.
  void run(std::span<const uint32_t> inputs, double second,
           std::span<uint32_t> results);
  /// The same, and measures the results. `before` is the input below the first.
  void measure(std::span<const uint32_t> inputs, std::optional<uint32_t> before,
               std::span<uint32_t> results);

  Findings findings;

private:
  void visit(std::span<const uint32_t> inputs, double second, bool measured,
             std::span<uint32_t> results);
  void measureOne(uint32_t bits, double x, double result);
  void askExactly(uint32_t bits, double x, double result);
  /// Compares each result but the first of `results` with the one before.
  void countSteps(std::span<const uint32_t> inputs,
                  std::span<const uint32_t> results);

  const reference::Primitive &primitive;
  std::optional<Purpose> purpose;
  /// Only inputs that may reach the largest error so far are worth MPFR.
  std::atomic<double> largest{0.4999};
  std::mutex mutex;
};

} // namespace bitpact::primitives

#endif // BITPACT_TESTS_PRIMITIVES_SWEEP_H
