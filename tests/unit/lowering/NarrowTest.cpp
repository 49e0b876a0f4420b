// NarrowTest.cpp - one rounding to nearest even, against the oracle's
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets.h"
#include "contracts/reference/Arithmetic.h"
#include "tests/unit/lowering/KernelProgram.h"

#include <catch2/catch.hpp>
#include <random>

using namespace bitpact;
using namespace bitpact::tests;
using algebra::Format;
using reference::decode;
using reference::encode;

namespace {

unsigned bytesOf(Format format) { return algebra::bits(format) / 8; }

/// Elements of a format, each in the low bits.
std::vector<uint8_t> pack(Format format, const std::vector<uint64_t> &values) {
  std::vector<uint8_t> bytes(values.size() * bytesOf(format));
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&bytes[i * bytesOf(format)], &values[i], bytesOf(format));
  return bytes;
}

/// Runs the kernel on each CPU; every result must be what the oracle rounds
/// to. Returns how many results are inexact, so that no test can be empty.
size_t expectRounded(Format from, Format to, std::vector<uint64_t> inputs) {
  while (inputs.size() % 8)
    inputs.push_back(0);
  std::vector<uint8_t> x = pack(from, inputs);
  size_t inexact = 0;
  for (const codegen::Target *target : cpusHere()) {
    CpuKernel kernel(compileKernel(
        narrowKernel(std::string(name(from)), std::string(name(to))), *target));
    std::vector<uint8_t> y(inputs.size() * bytesOf(to), 0xA5);
    kernel.run({reinterpret_cast<uint64_t>(x.data()),
                reinterpret_cast<uint64_t>(y.data()), inputs.size()},
               inputs.size() / 8);
    size_t wrong = 0;
    inexact = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      double value = decode(from, inputs[i]);
      uint64_t expected = encode(to, value), actual = 0;
      std::memcpy(&actual, &y[i * bytesOf(to)], bytesOf(to));
      inexact += decode(to, expected) != value;
      if (actual == expected || ++wrong > 5)
        continue;
      UNSCOPED_INFO(target->spec()
                    << ": " << name(from) << " " << std::hex << inputs[i]
                    << " to " << name(to) << ": expected " << expected
                    << ", got " << actual);
    }
    CHECK(wrong == 0);
  }
  return inexact;
}

std::vector<uint64_t> randomBits(size_t count, uint64_t mask) {
  std::mt19937_64 generator(20250101);
  std::vector<uint64_t> values(count);
  for (uint64_t &value : values)
    value = generator() & mask;
  return values;
}

/// Every upper half of an f32 with lower halves on both sides of every tie
/// that bf16 has and of those of f16 that lie in the lower half.
std::vector<uint64_t> floatsAroundTies() {
  std::vector<uint64_t> values = randomBits(1 << 18, 0xFFFFFFFF);
  for (uint64_t upper = 0; upper < 1 << 16; ++upper)
    for (uint64_t lower :
         {0x0000, 0x0001, 0x0FFF, 0x1000, 0x1001, 0x2000, 0x2FFF, 0x3000,
          0x3001, 0x5000, 0x7000, 0x7FFF, 0x8000, 0x8001, 0x9000, 0xB000,
          0xD000, 0xF000, 0xFFFF})
      values.push_back(upper << 16 | lower);
  return values;
}

/// Doubles at, just below and just above the middle between every two
/// neighbours of a format (some of them, for f32), where a rounding to f32 on
/// the way would decide wrongly; and past both ends.
std::vector<uint64_t> doublesAroundTies(Format to) {
  std::vector<uint64_t> values = randomBits(1 << 18, ~uint64_t(0));
  auto add = [&](double value) {
    for (double signedValue : {value, -value})
      for (int64_t step : {-1, 0, 1})
        values.push_back(std::bit_cast<uint64_t>(signedValue) + step);
  };
  bool wide = to == Format::F32;
  uint64_t infinity = encode(to, INFINITY);
  for (uint64_t upper = 0; upper < (wide ? infinity >> 16 : infinity); ++upper)
    for (uint64_t lower : {0x0000, 0x0001, 0x7FFF, 0xFFFF}) {
      uint64_t bits = wide ? upper << 16 | lower : upper;
      double here = decode(to, bits);
      // The step up from the largest value is that from the one before.
      double step = bits + 1 < infinity ? decode(to, bits + 1) - here
                                        : here - decode(to, bits - 1);
      add(here);
      add(here + step / 2);
      if (!wide)
        break;
    }
  for (double value :
       {0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308})
    add(value);
  return values;
}

/// Quiet and signalling NaNs of both signs.
std::vector<uint64_t> nansOf(Format format) {
  uint64_t infinity = encode(format, INFINITY);
  uint64_t sign = uint64_t(1) << (algebra::bits(format) - 1);
  uint64_t quiet = reference::canonicalNaN(format) & ~infinity;
  std::vector<uint64_t> values;
  for (uint64_t payload :
       {uint64_t(1), quiet, quiet | 1, quiet - 1, quiet | (quiet - 1)})
    for (uint64_t s : {uint64_t(0), sign})
      values.push_back(s | infinity | payload);
  return values;
}

} // namespace

TEST_CASE("f32 rounds to bf16 and f16 as the oracle does") {
  std::vector<uint64_t> values = floatsAroundTies();
  for (uint64_t nan : nansOf(Format::F32))
    values.push_back(nan);
  CHECK(expectRounded(Format::F32, Format::BF16, values) > 1000000);
  CHECK(expectRounded(Format::F32, Format::F16, values) > 1000000);
}

TEST_CASE("f64 rounds once") {
  for (Format to : {Format::BF16, Format::F16, Format::F32}) {
    std::vector<uint64_t> values = doublesAroundTies(to);
    for (uint64_t nan : nansOf(Format::F64))
      values.push_back(nan);
    CHECK(expectRounded(Format::F64, to, values) > 100000);
    // Not vacuous: rounding to f32 first gives other values here.
    size_t twice = 0;
    for (uint64_t bits : values) {
      double value = std::bit_cast<double>(bits);
      twice += encode(to, value) != encode(to, static_cast<float>(value));
    }
    CHECK((to == Format::F32 || twice > 10000));
  }
}

TEST_CASE("a value keeps its format, NaN becomes the one that is stored") {
  for (Format format : {Format::BF16, Format::F16, Format::F32, Format::F64}) {
    std::vector<uint64_t> values = nansOf(format);
    if (algebra::bits(format) == 16)
      for (uint64_t bits = 0; bits < 1 << 16; ++bits)
        values.push_back(bits);
    else
      for (uint64_t bits :
           randomBits(1 << 16, format == Format::F32 ? 0xFFFFFFFF : ~0ull))
        values.push_back(bits);
    expectRounded(format, format, values);
  }
}

TEST_CASE("a GPU rounds to bf16 with one instruction, and selects NaN") {
  for (const char *spec : {"cuda:sm_80", "cuda:sm_90a"}) {
    const codegen::Target *target = codegen::builtinTargets().find(spec);
    REQUIRE(target);
    if (!target->isUsable({})) {
      WARN("skipped: no ptxas for " << spec);
      continue;
    }
    std::string ptx =
        compileKernel(narrowKernel("f32", "bf16"), *target).assembly;
    INFO(ptx);
    CHECK_THAT(ptx, Catch::Contains("cvt.rn.bf16.f32"));
    CHECK_THAT(ptx, Catch::Contains("setp.nan.f32"));
    CHECK_THAT(ptx, Catch::Contains("selp"));
    CHECK_THAT(ptx, Catch::Contains("0x7FC0"));
    std::string half =
        compileKernel(narrowKernel("f64", "f16"), *target).assembly;
    INFO(half);
    // Over f32 rounded to odd; never the target's own f64 to f16.
    CHECK_THAT(half, Catch::Contains("cvt.rn.f32.f64") &&
                         Catch::Contains("cvt.rn.f16.f32") &&
                         !Catch::Contains("cvt.rn.f16.f64"));
  }
}
