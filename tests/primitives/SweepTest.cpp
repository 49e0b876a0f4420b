// SweepTest.cpp - the measuring itself, on errors put there on purpose
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define CATCH_CONFIG_MAIN
#include "tests/primitives/Sweep.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

using namespace bitpact;
using namespace bitpact::primitives;

TEST_CASE("an error is a distance in ulp at the true value") {
  // One ulp of 8 is 2^-20, on both sides; of subnormals it is 2^-149.
  CHECK(exactError(Function::Exp2, 3, 8) == 0);
  CHECK(exactError(Function::Exp2, 3, 8 + 0x1p-20) == 1);
  CHECK(exactError(Function::Exp2, 3, 8 - 0x1p-21) == 0.5);
  CHECK(exactError(Function::Exp2, -149, 0) == 1);
  CHECK(exactError(Function::Exp2, -150, 0) == 0.5);
  CHECK(exactError(Function::Exp2Below, 9, 1) == 0);
  CHECK(exactError(Function::Rsqrt, 4, 0.5 + 0x1p-24) == 1);
  // Infinity is right from the middle between the largest number and 2^128 on,
  // and 2^128 below.
  CHECK(exactError(Function::Exp2, 128, INFINITY) == 0);
  CHECK(exactError(Function::Exp2, 127, INFINITY) == 0x1p23);
  CHECK(exactError(Function::Exp2, 128, 0x1.fffffep127) == 1);
  // log(2) = 0.693147180559945309..., 1.90465e-9 below the nearest f32.
  CHECK(exactError(Function::Log, 2, 0x1.62e43p-1) ==
        Approx(1.90465e-9 * 0x1p24).epsilon(1e-5));
  CHECK(exactError(Function::Sigmoid, 0, 0.5) == 0);
  CHECK(exactError(Function::Silu, 0x1p-140, 0x1p-141) < 1e-9);
}

TEST_CASE("the near truth gives the error that MPFR gives") {
  struct {
    Function function;
    double from, to;
  } cases[] = {{Function::Exp, -104, 89},     {Function::Exp2, -150, 128},
               {Function::ExpBelow, -104, 1}, {Function::Exp2Below, -150, 1},
               {Function::Log, 0, 1e38},      {Function::Sigmoid, -104, 20},
               {Function::Silu, -100, 100},   {Function::Rsqrt, 0, 1e38}};
  for (auto [function, from, to] : cases)
    for (int i = 1; i < 1000; ++i) {
      double x = static_cast<float>(from + (to - from) * i / 1000);
      double truth = nearTruth(function, x);
      double result = static_cast<float>(truth * (1 + (i % 5) * 0x1p-23));
      CHECK(nearTruthHolds(function, x));
      CHECK(std::fabs(exactError(function, x, result) -
                      errorAgainst(truth, result)) <= nearSlack);
    }
}

TEST_CASE("ordinals ascend with the numbers") {
  CHECK(bitsOf(0) == 0xffffffff);
  CHECK(bitsOf(0x7fffffff) == 0x80000000); // -0
  CHECK(bitsOf(0x80000000) == 0);          // +0
  CHECK(bitsOf(0xffffffff) == 0x7fffffff);
  for (uint32_t bits : {0u, 1u, 0x3f800000u, 0x80000000u, 0xff800000u})
    CHECK(bitsOf(ordinalOf(bits)) == bits);
  CHECK(Inputs(1).size() == uint64_t(1) << 32);

  Inputs sample = Inputs::sample(1 << 20);
  std::vector<uint32_t> bits(sample.size());
  sample.fill(0, bits);
  for (size_t i = 1; i < bits.size(); ++i)
    REQUIRE(ordinalOf(bits[i - 1]) < ordinalOf(bits[i]));
  for (uint32_t special :
       {0u, 1u, 0x80000000u, 0x007fffffu, 0x00800000u, 0x3effffffu, 0x7f7fffffu,
        0x7f800000u, 0x7f800001u, 0xff800000u, 0xffc00000u, 0x7fffffffu})
    CHECK(std::find(bits.begin(), bits.end(), special) != bits.end());
}

/// A primitive of one operation on its argument.
static reference::Primitive one(const std::string &op,
                                const std::string &bits) {
  return reference::Primitive(
      {{"kind", "function"},
       {"args", {"f32"}},
       {"result", "f32"},
       {"body",
        {{{"id", "v0"}, {"op", "constant"}, {"type", "f32"}, {"bits", bits}},
         {{"id", "v1"}, {"op", op}, {"type", "f32"}, {"args", {"a0", "v0"}}}}},
       {"yield", "v1"}},
      "test");
}

static uint32_t bitsOfFloat(float value) {
  return std::bit_cast<uint32_t>(value);
}

TEST_CASE("a sweep finds the largest error, wrong signs and steps") {
  // 1*x as an approximation of 2^min(x, 0): at -1 it is -1 instead of 1/2.
  reference::Primitive times = one("mul", "3f800000");
  std::vector<uint32_t> inputs{bitsOfFloat(-1), bitsOfFloat(0.5),
                               bitsOfFloat(1), bitsOfFloat(1.25)};
  std::vector<uint32_t> results(4);
  Sweep sweep(times, Purpose{Function::Exp2Below, -INFINITY});
  sweep.measure(inputs, {}, results);
  CHECK(results == inputs);
  CHECK(sweep.findings.wrong == 1);
  CHECK(sweep.findings.firstWrong == inputs[0]);
  // 1/2 and 5/4 instead of 1: 2^22 and 2^21 ulp.
  CHECK(sweep.findings.error == 0x1p22);
  CHECK(sweep.findings.worst == inputs[1]);
  CHECK(sweep.findings.rises == 3);
  CHECK(sweep.findings.falls == 0);
  // A second block continues the first.
  std::vector<uint32_t> more{bitsOfFloat(1)};
  results.resize(1);
  sweep.measure(more, inputs[3], results);
  CHECK(sweep.findings.falls == 1);
  CHECK(sweep.findings.firstFall == more[0]);
  CHECK(sweep.findings.inputs == 5);
  CHECK(sweep.findings.doubts == 0);
}

TEST_CASE("many inputs at once and one at a time are the same") {
  // Longer than a slice, with every kind of value in it.
  reference::Primitive over = one("div", "40400000"); // x/3
  Inputs sample = Inputs::sample(1 << 20);
  std::vector<uint32_t> inputs(sample.size()), results(sample.size());
  sample.fill(0, inputs);
  Sweep(over, std::nullopt).run(inputs, 0, results);
  std::vector<reference::Register> file(over.registers());
  for (size_t i = 0; i < inputs.size(); ++i) {
    file[0].real = std::bit_cast<float>(inputs[i]);
    REQUIRE(results[i] ==
            reference::encode(algebra::Format::F32, over.run(file.data())));
  }
}
