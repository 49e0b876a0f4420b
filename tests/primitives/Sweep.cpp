// Sweep.cpp - a primitive on many inputs: evaluator and truth
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/primitives/Sweep.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bitpact::primitives {

using reference::Register;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Inputs::Inputs(uint32_t step)
    : stride(step), count(((uint64_t(1) << 32) + step - 1) / step) {}

Inputs Inputs::sample(uint32_t step) {
  Inputs inputs(step);
  std::vector<uint32_t> &list = inputs.listed;
  auto around = [&](float value, int distance) {
    uint32_t centre = ordinalOf(std::bit_cast<uint32_t>(value));
    for (int i = -distance; i <= distance; ++i)
      list.push_back(centre + static_cast<uint32_t>(i)); // wraps among NaNs
  };
  for (float sign : {1.0f, -1.0f}) {
    for (int e = -149; e <= 127; ++e) {
      around(std::ldexp(sign, e), 32);
      around(std::ldexp(sign * 0x1.555556p-1f, e), 8); // two thirds
    }
    for (int half = 0; half <= 320; ++half) {
      around(sign * 0.5f * half, 32);
      around(sign * 0.5f * half * 0x1.62e43p-1f, 8); // times log(2)
    }
    for (uint32_t bits : {0x7f800000u, 0x7fc00000u, 0x7fffffffu})
      around(std::copysign(std::bit_cast<float>(bits), sign), 32);
  }
  std::sort(list.begin(), list.end());
  size_t special = list.size();
  for (uint64_t i = 0; i < inputs.count; ++i)
    list.push_back(static_cast<uint32_t>(i * step));
  std::inplace_merge(list.begin(), list.begin() + special, list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return inputs;
}

void Inputs::fill(uint64_t first, std::span<uint32_t> bits) const {
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] =
        bitsOf(listed.empty() ? static_cast<uint32_t>((first + i) * stride)
                              : listed[first + i]);
}

//===----------------------------------------------------------------------===//
// Sweep
//===----------------------------------------------------------------------===//

void Sweep::visit(std::span<const uint32_t> inputs, double second,
                  bool measured, std::span<uint32_t> results) {
  constexpr size_t slice = 256;
  std::vector<Register> file(primitive.registers() * slice);
  for (size_t first = 0; first < inputs.size(); first += slice) {
    size_t count = std::min(slice, inputs.size() - first);
    for (size_t i = 0; i < count; ++i)
      file[i].real = reference::decode32(inputs[first + i]);
    for (size_t i = count; i < count * primitive.arguments.size(); ++i)
      file[i].real = second;
    const Register *out = primitive.runMany(file.data(), count);
    for (size_t i = 0; i < count; ++i)
      results[first + i] = reference::encode32(out[i].real);
    if (measured)
      for (size_t i = 0; i < count; ++i)
        measureOne(inputs[first + i], reference::decode32(inputs[first + i]),
                   out[i].real);
  }
}

void Sweep::run(std::span<const uint32_t> inputs, double second,
                std::span<uint32_t> results) {
  visit(inputs, second, false, results);
}

void Sweep::measure(std::span<const uint32_t> inputs,
                    std::optional<uint32_t> before,
                    std::span<uint32_t> results) {
  visit(inputs, 0, purpose.has_value(), results);
  if (purpose) {
    countSteps(inputs, results);
    if (before) {
      uint32_t pair[] = {*before, inputs.front()}, two[2];
      visit(pair, 0, false, two);
      countSteps(pair, two);
    }
  }
  std::lock_guard lock(mutex);
  findings.inputs += inputs.size();
  if (purpose)
    findings.doubts +=
        !nearTruthHolds(purpose->function, reference::decode32(inputs.front()));
}

void Sweep::measureOne(uint32_t bits, double x, double result) {
  double near = nearTruth(purpose->function, x);
  bool right = std::isnan(near) == std::isnan(result) &&
               (std::isnan(near) || std::signbit(near) == std::signbit(result));
  if (std::isinf(near) && !std::isinf(result) && right) {
    right = false; // a pole, or far beyond the range of f32
  } else if (right && std::isfinite(near) && x > purpose->above) {
    // Just above a power of two the truth may lie below it, where an ulp is
    // half as long; just below, it may lie above, which only shortens errors.
    uint64_t fraction = std::bit_cast<uint64_t>(near) << 12 >> 12;
    double most = errorAgainst(near, result) * (fraction < 16 ? 2 : 1);
    if (most + nearSlack >= largest.load())
      askExactly(bits, x, result);
  }
  if (right)
    return;
  std::lock_guard lock(mutex);
  if (findings.wrong++ == 0 || ordinalOf(bits) < ordinalOf(findings.firstWrong))
    findings.firstWrong = bits;
}

void Sweep::askExactly(uint32_t bits, double x, double result) {
  double error = exactError(purpose->function, x, result);
  if (error < largest.load())
    return;
  std::lock_guard lock(mutex);
  bool doubt = !nearTruthHolds(purpose->function, x);
  findings.doubts += doubt;
  if (error < findings.error || error < largest.load() ||
      (error == findings.error && ordinalOf(bits) > ordinalOf(findings.worst)))
    return;
  findings.error = error;
  findings.worst = bits;
  largest = error;
}

void Sweep::countSteps(std::span<const uint32_t> inputs,
                       std::span<const uint32_t> results) {
  uint64_t falls = 0, rises = 0;
  uint32_t firstFall = 0, firstRise = 0;
  for (size_t i = results.size() - 1; i > 0; --i) {
    float before = std::bit_cast<float>(results[i - 1]);
    float after = std::bit_cast<float>(results[i]);
    falls += before > after;
    rises += before < after;
    firstFall = before > after ? inputs[i] : firstFall;
    firstRise = before < after ? inputs[i] : firstRise;
  }
  std::lock_guard lock(mutex);
  auto merge = [](uint64_t &count, uint32_t &first, uint64_t more,
                  uint32_t at) {
    if (more && (count == 0 || ordinalOf(at) < ordinalOf(first)))
      first = at;
    count += more;
  };
  merge(findings.falls, findings.firstFall, falls, firstFall);
  merge(findings.rises, findings.firstRise, rises, firstRise);
}

} // namespace bitpact::primitives
