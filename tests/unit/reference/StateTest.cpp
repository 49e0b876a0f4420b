// StateTest.cpp - sums under a maximum against values worked out by hand
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/States.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace bitpact::tests;
using bitpact::algebra::Format;
using bitpact::reference::Evaluator;

namespace {

constexpr double inf = INFINITY;

StateText online(const std::string &partition,
                 const std::vector<std::string> &merge) {
  StateText text;
  text.partition = partition;
  text.merge = merge;
  return text;
}

StateText twoPass(const std::string &partition,
                  const std::vector<std::string> &merge) {
  StateText text = online(partition, merge);
  text.state = "two_pass";
  return text;
}

/// a / b in f32, which is what the weights of these tests are.
float ratio(float a, float b) { return a / b; }

} // namespace

TEST_CASE("two_pass weighs every element under the final maximum") {
  // Weights 1/7, 3/7, 1, 5/7, in f32.
  float w0 = ratio(1, 7), w1 = ratio(3, 7), w2 = 1, w3 = ratio(5, 7);
  CHECK(stateRow(twoPass("k:*", {"k chain"}), {1, 3, 7, 5}) ==
        ((w0 + w1) + w2) + w3);
  CHECK(stateRow(twoPass("k:*", {"k pairwise"}), {1, 3, 7, 5}) ==
        (w0 + w1) + (w2 + w3));
  CHECK(stateRow(twoPass("a:2 b:2", {"a halving", "b fold"}), {1, 3, 7, 5}) ==
        (w0 + w2) + (w1 + w3));
}

TEST_CASE("a carry rescales what was summed and goes on top of it") {
  // One element a step: m is 1, then 3, then 7, then still 7.
  float l = 1;
  l = l * ratio(1, 3) + 1;
  l = l * ratio(3, 7) + 1;
  l = l + ratio(5, 7);
  CHECK(stateRow(online("k:*", {"k carry"}), {1, 3, 7, 5}) == l);
  // The maximum known before gives other bits, so the test can fail.
  l = 1;
  l = l * ratio(1, 2) + 1;
  l = l * ratio(2, 5) + 1;
  l = l * ratio(5, 6) + 1;
  CHECK(stateRow(online("k:*", {"k carry"}), {1, 2, 5, 6}) == l);
  CHECK(stateRow(twoPass("k:*", {"k chain"}), {1, 2, 5, 6}) != l);

  // Two elements a step: the maximum of a step is known before its weights.
  float two = (0.0f + ratio(1, 3)) + 1;
  two = two * ratio(3, 7);
  two = (two + 1) + ratio(5, 7);
  CHECK(stateRow(online("t:* c:2", {"c chain", "t carry"}), {1, 3, 7, 5}) ==
        two);
  // With start first the first weight is the accumulator: the same here.
  StateText first = online("t:* c:2", {"c chain", "t carry"});
  first.start = "first";
  CHECK(stateRow(first, {1, 3, 7, 5}) == two);
  // A short last step.
  CHECK(stateRow(online("t:* c:2", {"c chain", "t carry"}), {1, 3, 7}) ==
        ((0.0f + ratio(1, 3)) + 1) * ratio(3, 7) + 1);
}

TEST_CASE("below a carry, what is no chain is a complete partial") {
  // Step of four: (w0 + w2) + (w1 + w3), added to what was rescaled.
  std::vector<double> row{1, 2, 3, 4, 9, 8, 7, 6};
  float p = (ratio(1, 4) + ratio(3, 4)) + (ratio(2, 4) + 1);
  float q = (1 + ratio(7, 9)) + (ratio(8, 9) + ratio(6, 9));
  CHECK(stateRow(online("t:* c:4", {"c halving", "t carry"}), row) ==
        p * ratio(4, 9) + q);
  // A chain instead continues on the accumulator.
  float l = ((ratio(1, 4) + ratio(2, 4)) + ratio(3, 4)) + 1;
  l = l * ratio(4, 9);
  l = (((l + 1) + ratio(8, 9)) + ratio(7, 9)) + ratio(6, 9);
  CHECK(stateRow(online("t:* c:4", {"c chain", "t carry"}), row) == l);
}

TEST_CASE("plain merges above a carry share the maximum") {
  // Accumulators of t = 0 and t = 1; both are rescaled at step 1, to 9.
  StateText text = online("j:* t:2 c:2", {"c chain", "j carry", "t halving"});
  std::vector<double> row{1, 2, 3, 4, 9, 8, 7, 6};
  float t0 = (ratio(1, 4) + ratio(2, 4)) * ratio(4, 9);
  t0 = (t0 + 1) + ratio(8, 9);
  float t1 = (ratio(3, 4) + 1) * ratio(4, 9);
  t1 = (t1 + ratio(7, 9)) + ratio(6, 9);
  CHECK(stateRow(text, row) == t0 + t1);
  // The last step has elements of t = 0 alone; t = 1 is rescaled all the same.
  row.resize(6);
  row[4] = 5;
  row[5] = 9;
  t0 = (ratio(1, 4) + ratio(2, 4)) * ratio(4, 9);
  t0 = (t0 + ratio(5, 9)) + 1;
  t1 = (ratio(3, 4) + 1) * ratio(4, 9);
  CHECK(stateRow(text, row) == t0 + t1);
  // `in` rounds merges of accumulators, not steps.
  text.merge[2] = "t halving in bf16";
  float sum = t0 + t1;
  uint32_t bits = std::bit_cast<uint32_t>(sum);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  CHECK(stateRow(text, row) == std::bit_cast<float>(bits));
}

TEST_CASE("states that meet have maxima of their own") {
  // Lane 0 holds 1, 9; lane 1 holds 3, 7.
  StateText text = online("s:* lane:2", {"s carry", "lane halving merge"});
  std::vector<double> row{1, 3, 9, 7};
  float l0 = ratio(1, 9) + 1, l1 = ratio(3, 7) + 1;
  CHECK(stateRow(text, row) == l0 * 1 + l1 * ratio(7, 9));
  // Without a carry a state is one step.
  CHECK(stateRow(online("s:* lane:2", {"s chain", "lane halving merge"}),
                 row) == l0 + l1 * ratio(7, 9));
  // The lower position is the left operand of a combine that is no sum of
  // equals.
  text.combine = "combine.fma.f32";
  CHECK(stateRow(text, row) == std::fma(l0, 1.0f, float(l1 * ratio(7, 9))));
  std::swap(row[0], row[1]);
  std::swap(row[2], row[3]);
  CHECK(stateRow(text, row) == std::fma(l1, ratio(7, 9), l0));
  // A lane without an element passes the other on unchanged.
  CHECK(stateRow(text, {5}) == 1);
  // `from` rounds every part, `in` every result.
  text = online("k:*", {"k fold merge from bf16"});
  CHECK(stateRow(text, {3, 7}) == ratio(3, 7) + 1);
  text = online("s:* lane:2", {"s carry", "lane halving merge from bf16"});
  // bf16(10/9) = 1.109375, bf16(10/7) = 1.4296875.
  CHECK(stateRow(text, {1, 3, 9, 7}) == 1.109375f + 1.4296875f * ratio(7, 9));
}

TEST_CASE("infinities and NaN in states") {
  for (const StateText &text :
       {twoPass("t:* c:2", {"c chain", "t chain"}),
        online("t:* c:2", {"c chain", "t carry"}),
        online("t:* c:2", {"t carry", "c halving"}),
        online("t:* c:2", {"t carry", "c halving merge"})}) {
    StateText bell = text;
    bell.weight = "bell.f32";
    INFO(text.partition << " " << text.merge.back());
    // Every element -Inf: each weighs 1.
    CHECK(stateRow(bell, {-inf, -inf, -inf}) == 3);
    // -Inf beside numbers weighs nothing, in whatever step it comes.
    CHECK(stateRow(bell, {-inf, -inf, 4, 4}) == 2);
    CHECK(stateRow(bell, {4, -inf, -inf, -inf, 4}) == 2);
    // +Inf weighs 1, everything else nothing.
    CHECK(stateRow(bell, {4, 5, inf, 6, inf}) == 2);
    CHECK(std::isnan(stateRow(bell, {4, 5, NAN, 6})));
    CHECK(std::isnan(stateRow(bell, {-inf, NAN})));
  }
}

TEST_CASE("the maximum of a state is the max node's value") {
  Evaluator evaluator(stateContract(online("t:* c:2", {"c chain", "t carry"})));
  auto result = evaluator.runNamed(
      {{"x", tensorOf(Format::F32, {2, 3}, {1, 7, 3, -0.0, -0.0, 0.0})}});
  CHECK(valuesOf(result.at("max"))[0] == 7);
  CHECK(bitsOf(result.at("m"))[1] == 0); // +0 is above -0
  CHECK(bitsOf(result.at("sum"))[1] == 0x40400000);
}
