// SwigluRoundedTwice.cpp - an activation that is stored before it is multiplied
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: one engine rounds silu(gate) to bf16 and the product with up
// again, the other multiplies in f32 and rounds once: 2.59 of 9.44 million
// elements of a layer differ.
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <iostream>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

Case contractOf(const std::string &name) {
  return readFile(BITPACT_FIELD_CONTRACTS "/" + name + ".json");
}

float widened(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t nearest(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

reference::Tensor resultOf(const std::string &name,
                           const interpreter::Tensors &inputs) {
  return reference::Evaluator(contractOf(name).read.canonical)
      .run(inputs, 1)
      .at("y");
}

} // namespace

TEST_CASE("elements on which an activation that is stored shows") {
  // One product each, so that gate and up are elements of the weights. What is
  // expected is computed here in double, where silu has an error far below the
  // distance of any of these from the middle between two bf16.
  int64_t differ = 0;
  for (uint16_t gate = 0x3F80; gate < 0x4100; gate += 7)
    for (uint16_t up : {0x3FC0, 0x4040, 0x40A0, 0x3FAB}) {
      double activation =
          double(widened(gate)) / (1 + std::exp(-double(widened(gate))));
      uint16_t once = nearest(float(activation * double(widened(up)))),
               stored = nearest(float(activation)),
               twice = nearest(widened(stored) * widened(up));
      if (once == twice)
        continue;
      ++differ;
      interpreter::Tensors inputs = {
          {"x", bf16s({1, 1}, {0x3F80})},
          {"gate_weight", bf16s({1, 1}, {gate})},
          {"up_weight", bf16s({1, 1}, {up})}};
      CHECK(bitsAt(resultOf("swiglu", inputs), 0) == once);
      CHECK(bitsAt(resultOf("swiglu_twice", inputs), 0) == twice);
    }
  CHECK(differ > 20);
}

TEST_CASE("contracts that round an activation differ in one entry of R") {
  nlohmann::json a = contractOf("swiglu").read.canonical,
                 b = contractOf("swiglu_twice").read.canonical;
  a.erase("name");
  b.erase("name");
  CHECK(a != b);
  a.at("rounding").erase("activation");
  b.at("rounding").erase("activation");
  CHECK(a == b);
}

TEST_CASE("how many elements of a layer a stored activation changes") {
  std::mt19937 random(1);
  interpreter::Dims dims = productDims(16, 65, 128);
  interpreter::Tensors inputs =
      tensorsOf(contractOf("swiglu"), dims, random, /*plain=*/true);
  inputs.erase("y");
  reference::Tensor once = resultOf("swiglu", inputs),
                    twice = resultOf("swiglu_twice", inputs);
  int64_t differ = 0, count = int64_t(once.bytes.size() / 2);
  for (int64_t i = 0; i < count; ++i)
    differ += bitsAt(once, i) != bitsAt(twice, i);
  double share = double(differ) / double(count);
  std::cout << "an activation stored as bf16 changes " << 100 * share
            << " % of elements\n";
  CHECK(share > 0.1);
  CHECK(share < 0.5);
}

TEST_CASE("kernels keep both contracts") {
  std::mt19937 random(1);
  interpreter::Dims dims = productDims(5, 19, 33);
  for (std::string name : {"swiglu", "swiglu_twice"}) {
    Case of = contractOf(name);
    interpreter::Tensors all = tensorsOf(of, dims, random), given = all;
    given.erase("y");
    reference::Tensor want = resultOf(name, given);
    for (tile::ScheduleAttr schedule : allTiles()) {
      INFO(name << " in " << schedule.text());
      TileKernel kernel = lower(of, schedule);
      Said said;
      auto got = interpreter::interpretNumbers(kernel.func, all, dims, 3);
      INFO(said.text);
      REQUIRE(succeeded(got));
      CHECK(got->at("y").bytes == want.bytes);
    }
  }
}
