// QuotientText.cpp - the text of a group of quotients, executed here
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/codegen/QuotientText.h"

#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <sstream>

using namespace bitpact::tests;
using Lanes = QuotientText::Lanes;

// Without the instruction a fused multiply-add is a call.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BITPACT_FAST_FMA                                                       \
  __attribute__((noinline, target_clones("arch=haswell", "default")))
#else
#define BITPACT_FAST_FMA __attribute__((noinline))
#endif

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

BITPACT_FAST_FMA static void fuse(uint32_t *to, const uint32_t *a,
                                  const uint32_t *b, const uint32_t *c) {
  float x[QuotientText::kLanes], y[QuotientText::kLanes],
      z[QuotientText::kLanes];
  std::memcpy(x, a, sizeof x);
  std::memcpy(y, b, sizeof y);
  std::memcpy(z, c, sizeof z);
  for (size_t i = 0; i < QuotientText::kLanes; ++i)
    z[i] = __builtin_fmaf(x[i], y[i], z[i]);
  std::memcpy(to, z, sizeof z);
}

/// rcp.approx.ftz.f32: subnormal operands and results are zeros.
static uint32_t reciprocal(uint32_t bits, int neighbour) {
  uint32_t sign = bits & 0x80000000u, size = bits & 0x7FFFFFFFu;
  if (size > 0x7F800000u)
    return 0x7FFFFFFFu;
  if (size < 0x00800000u)
    return sign | 0x7F800000u;
  uint32_t near = bitsOf(float(1.0 / double(floatOf(size))));
  return near < 0x00800000u + 4 ? sign : sign | (near + uint32_t(neighbour));
}

static float larger(float a, float b) { // max.NaN
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}

QuotientText::QuotientText(const std::string &text) {
  std::string plain;
  for (char c : text)
    if (c == ';' || c == '\n')
      plain += '\n';
    else if (c != ',' && c != '{' && c != '}')
      plain += c;
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Step step;
    words >> step.name;
    if (step.name.empty() || step.name == ".reg")
      continue;
    for (std::string word; words >> word;)
      if (step.name[0] != '@')
        step.operands.push_back(known(word));
    steps.push_back(step);
  }
}

Lanes *QuotientText::known(const std::string &operand) {
  auto [at, isNew] = lanes.try_emplace(operand);
  if (isNew && operand.rfind("0f", 0) == 0)
    at->second.fill(uint32_t(std::stoul(operand.substr(2), nullptr, 16)));
  else if (isNew && (std::isdigit(operand[0]) || operand[0] == '-'))
    at->second.fill(uint32_t(std::stol(operand)));
  return &at->second;
}

void QuotientText::run(int neighbour) {
  for (const Step &step : steps)
    execute(step, neighbour);
}

void QuotientText::execute(const Step &step, int neighbour) {
  const std::string &name = step.name;
  if (name == "@usual" || name == "divided:")
    return; // div.rn looks for itself
  REQUIRE(step.operands.size() >= 2);
  Lanes &to = *step.operands[0];
  const Lanes &a = *step.operands[1],
              &b =
                  *step.operands[std::min<size_t>(2, step.operands.size() - 1)],
              &c = *step.operands.back();
  auto each = [&](auto &&value) {
    for (size_t i = 0; i < kLanes; ++i)
      to[i] = value(i);
  };
  if (name == "mov.f32") {
    to = Lanes(a);
  } else if (name == "fma.rn.f32") {
    fuse(to.data(), a.data(), b.data(), c.data());
  } else if (name == "fma.rp.f32") {
    std::fesetround(FE_UPWARD);
    fuse(to.data(), a.data(), b.data(), c.data());
    std::fesetround(FE_TONEAREST);
  } else if (name == "mul.rn.f32") {
    each([&](size_t i) { return bitsOf(floatOf(a[i]) * floatOf(b[i])); });
  } else if (name == "neg.f32") {
    each([&](size_t i) { return a[i] ^ 0x80000000u; });
  } else if (name == "abs.f32") {
    each([&](size_t i) { return a[i] & 0x7FFFFFFFu; });
  } else if (name == "rcp.approx.ftz.f32") {
    each([&](size_t i) { return reciprocal(a[i], neighbour); });
  } else if (name == "max.NaN.f32") {
    each(
        [&](size_t i) { return bitsOf(larger(floatOf(a[i]), floatOf(b[i]))); });
  } else if (name == "shf.l.wrap.b32") { // high word of b:a moved left
    each([&](size_t i) { return b[i] << c[i] | a[i] >> (32 - c[i]); });
  } else if (name == "add.s32") {
    each([&](size_t i) { return a[i] + b[i]; });
  } else if (name == "min.u32") {
    each([&](size_t i) { return std::min(a[i], b[i]); });
  } else if (name == "setp.le.f32") {
    each([&](size_t i) { return uint32_t(floatOf(a[i]) <= floatOf(b[i])); });
  } else if (name == "setp.ge.and.u32") {
    each([&](size_t i) { return uint32_t(a[i] >= b[i] && c[i]); });
  } else if (name == "div.rn.f32") {
    const Lanes &isUsual = usual();
    each([&](size_t i) {
      return isUsual[i] ? to[i] : bitsOf(floatOf(a[i]) / floatOf(b[i]));
    });
  } else {
    FAIL("an instruction that no group has: " << name);
  }
}
