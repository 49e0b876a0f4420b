// ReductionTest.cpp - reductions against hand arithmetic
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace bitpact::tests;
using bitpact::algebra::Format;

static constexpr double big =
    16777216; // 2^24: adding 1 in f32 is a tie, to even

static NodeText node(const std::string &partition,
                     const std::vector<std::string> &merge,
                     const std::string &start = "identity") {
  NodeText text;
  text.partition = partition;
  text.merge = merge;
  text.start = start;
  return text;
}

TEST_CASE("chain, pairwise and halving give three sums") {
  std::vector<double> row{1, big, 1, -big};
  // ((1 + B) + 1) - B = (B + 1) - B = B - B.
  CHECK(reduceRow("sum", node("k:4", {"k chain"}), row) == 0);
  CHECK(reduceRow("sum", node("k:4", {"k fold"}), row) == 0);
  // (1 + B) + (1 - B) = B - (B - 1), where B - 1 is exact.
  CHECK(reduceRow("sum", node("k:4", {"k pairwise"}), row) == 1);
  // (1 + 1) + (B - B).
  CHECK(reduceRow("sum", node("k:4", {"k halving"}), row) == 2);
}

TEST_CASE("the order of a chain is the order of the merge list") {
  std::vector<double> row{big, 1, 1, 1, 1, -big};
  // Rows of three: B+1+1+1 stays B, then 1+1-B... in position order: 0.
  CHECK(reduceRow("sum", node("a:2 b:3", {"b chain", "a chain"}), row) == 0);
  // Columns: B, 1, 1, 1, 1, -B with positions 0 3 1 4 2 5: the same values.
  CHECK(reduceRow("sum", node("a:2 b:3", {"a chain", "b chain"}), row) == 0);
  // Now the two differ: positions 0 3 1 4 2 5 hold B, -B, 1, 1, 1, 1.
  std::vector<double> other{big, 1, 1, -big, 1, 1};
  CHECK(reduceRow("sum", node("a:2 b:3", {"a chain", "b chain"}), other) == 4);
  CHECK(reduceRow("sum", node("a:2 b:3", {"b chain", "a chain"}), other) == 2);
}

TEST_CASE("lanes are chains of their own") {
  // Two lanes of packs of two: lane 0 has B, 1, 1, -B and lane 1 the ones.
  NodeText text = node("sweep:* lane:2 pack:2",
                       {"pack chain", "sweep chain", "lane halving"});
  CHECK(reduceRow("sum", text, {big, 1, 1, 1, 1, -big, 1, 1}) == 4);
  // In one chain only the two ones after -B are left.
  CHECK(reduceRow("sum", node("k:*", {"k chain"}),
                  {big, 1, 1, 1, 1, -big, 1, 1}) == 2);
  // A ragged end: the second sweep has one element, in lane 0.
  CHECK(reduceRow("sum", text, {big, 1, 1, 1, -big}) == 2);
}

TEST_CASE("stated lengths split where they say") {
  // Ranks of three: B + 1 + 1 = B; 1 + 1 - B = 2 - B. In twos: B, 2, 1 - B.
  std::vector<double> row{big, 1, 1, 1, 1, -big};
  CHECK(reduceRow("sum", node("r:2@3 k:*", {"k chain", "r fold"}), row) == 2);
  CHECK(reduceRow("sum", node("r:*@2 k:2", {"k chain", "r fold"}), row) == 3);
}

TEST_CASE("signed zeros tell the start") {
  auto bits = [](double value) { return std::signbit(value) ? "-0" : "+0"; };
  NodeText first = node("k:*", {"k chain"}, "first");
  NodeText identity = node("k:*", {"k chain"});
  CHECK(bits(reduceRow("sum", first, {-0.0, -0.0})) == std::string("-0"));
  CHECK(bits(reduceRow("sum", identity, {-0.0, -0.0})) == std::string("+0"));
  CHECK(bits(reduceRow("sum", first, {-0.0})) == std::string("-0"));
  CHECK(bits(reduceRow("sum", first, {-0.0, 0.0})) == std::string("+0"));
  CHECK(bits(reduceRow("max", identity, {-0.0})) == std::string("-0"));
  CHECK(bits(reduceRow("max", first, {-0.0, 0.0})) == std::string("+0"));
  // Empty lanes add nothing: -0 stays although three of four lanes are empty.
  NodeText lanes = node("lane:4 k:2", {"k chain", "lane halving"}, "first");
  CHECK(bits(reduceRow("sum", lanes, {-0.0, -0.0})) == std::string("-0"));
  CHECK(bits(dotRow(first, {-0.0}, {1})) == std::string("-0"));
  CHECK(bits(dotRow(identity, {-0.0}, {1})) == std::string("+0"));
  // An underflowing product seeds a signed zero; from +0 the fma rounds to -0.
  CHECK(bits(dotRow(first, {-0x1p-80}, {0x1p-80})) == std::string("-0"));
  CHECK(bits(dotRow(identity, {-0x1p-80}, {0x1p-80})) == std::string("-0"));
}

TEST_CASE("NaN and infinities go through") {
  NodeText text = node("k:*", {"k pairwise"});
  CHECK(std::isnan(reduceRow("sum", text, {1, NAN, 2})));
  CHECK(std::isnan(reduceRow("sum", text, {INFINITY, 1, -INFINITY})));
  CHECK(reduceRow("sum", text, {INFINITY, 1, 2}) == INFINITY);
  CHECK(std::isnan(reduceRow("max", text, {1, NAN, INFINITY})));
  CHECK(reduceRow("max", text, {-INFINITY, -INFINITY}) == -INFINITY);
  CHECK(reduceRow("max", text, {-3, -1, -2}) == -1);
  CHECK(reduceRow("sum", text, {0x1.fffffep127, 0x1.fffffep127}) == INFINITY);
  CHECK(std::isnan(dotRow(text, {INFINITY, 1}, {0, 1})));
}

TEST_CASE("subnormals are kept") {
  NodeText text = node("k:*", {"k chain"});
  CHECK(reduceRow("sum", text, {0x1p-149, 0x1p-149, 0x1p-148}) == 0x1p-147);
  CHECK(dotRow(text, {0x1p-75, 0x1p-75}, {0x1p-74, 0x1p-74}) == 0x1p-148);
  text.input = "bf16";
  CHECK(reduceRow("sum", text, {0x1p-133, -0x1p-132}) == -0x1p-133);
}

TEST_CASE("an exact product is one fma, a rounded one is not") {
  double a = 1 + 0x1p-12; // a*a = 1 + 2^-11 + 2^-24
  NodeText fused = node("k:*", {"k chain"});
  NodeText rounded = fused;
  rounded.step = "dot.mul_add.f32";
  std::vector<double> left{-1, a}, right{1 + 0x1p-11, a};
  CHECK(dotRow(fused, left, right) == 0x1p-24);
  CHECK(dotRow(rounded, left, right) == 0);
  // Seeding rounds the first product, so nothing of it is left to see.
  fused.start = "first";
  CHECK(dotRow(fused, {a, -1}, {a, 1 + 0x1p-11}) == 0);
}

TEST_CASE("from and in round what enters and what leaves a merge") {
  double x = 1 + 0x1p-9; // to bf16: 1
  NodeText plain = node("k:2", {"k pairwise"});
  NodeText from = node("k:2", {"k pairwise from bf16"});
  NodeText in = node("k:2", {"k pairwise in bf16"});
  CHECK(reduceRow("sum", plain, {x, x}) == 2 + 0x1p-8);
  CHECK(reduceRow("sum", from, {x, x}) == 2);
  CHECK(reduceRow("sum", in, {x, 0x1p-9}) == 1); // 1 + 2^-8: a tie
  CHECK(reduceRow("sum", in, {x, 0x1.8p-8}) == 1 + 0x1p-7);
  CHECK(reduceRow("sum", from, {x}) == 1); // also a part alone
  CHECK(reduceRow("sum", in, {x}) == x);   // no merge, no rounding
  // An intermediate of a fold is rounded too: (1 + 2^-8) -> 1, + 2^-8 -> 1.
  NodeText fold = node("k:3", {"k fold in bf16"});
  CHECK(reduceRow("sum", fold, {1, 0x1p-8, 0x1p-8}) == 1);
  CHECK(reduceRow("sum", node("k:3", {"k pairwise in bf16"}),
                  {0x1p-8, 0x1p-8, 1}) == 1 + 0x1p-7);
  CHECK(reduceRow("max", node("k:2", {"k any in bf16"}), {x, 0.5}) == 1);
}

TEST_CASE("accumulators of every format") {
  std::vector<double> row{2048, 1, 1}; // in f16 2048 + 1 is a tie, to 2048
  NodeText text = node("k:*", {"k chain"});
  text.input = text.accumulator = "f16";
  CHECK(reduceRow("sum", text, row) == 2048);
  text.accumulator = "f32";
  text.step = "sum.add.f32"; // f16 elements widen exactly
  CHECK(reduceRow("sum", text, row) == 2050);
  NodeText wide = node("k:*", {"k chain"});
  wide.accumulator = "f64";
  CHECK(reduceRow("sum", wide, {big, 1, 1}) == big + 2);
  wide.output = "f32"; // one rounding at the site, of the exact sum
  CHECK(reduceRow("sum", wide, {big, 1, 0x1p-20}) == big + 2);
  CHECK(reduceRow("sum", wide, {big, 1}) == big);
  NodeText small = node("k:*", {"k chain"});
  small.input = small.accumulator = "bf16";
  CHECK(reduceRow("sum", small, {256, 1, 1}) == 256);
  CHECK(dotRow(small, {16, 1}, {16, 1}) == 256); // 257: a tie
  CHECK(dotRow(small, {1, 1, 16}, {1, 1, 16}) == 258);
}

TEST_CASE("offsets cut a packed axis") {
  NodeText text = node("seq:@offsets k:*", {"k chain", "seq fold"});
  nlohmann::json contract = reduceContract("sum", text);
  contract["nodes"]["total"]["offsets"] = "cuts";
  contract["types"]["cuts"] = "i32";
  bitpact::reference::Evaluator evaluator(contract);
  Tensor x = tensorOf(Format::F32, {1, 6}, {big, 1, 1, 1, 1, -big});
  auto sum = [&](const std::vector<uint64_t> &cuts) {
    int64_t count = static_cast<int64_t>(cuts.size());
    return valuesOf(
        evaluator
            .run({{"x", x}, {"cuts", tensorOfBits(Format::I32, {count}, cuts)}})
            .at("y"))[0];
  };
  CHECK(sum({0, 6}) == 0);
  CHECK(sum({0, 3, 6}) == 2);       // B, then 2 - B
  CHECK(sum({0, 1, 1, 5, 6}) == 4); // B, nothing, 4, -B
  // No tree: NaN, whatever the elements are.
  for (const std::vector<uint64_t> &cuts : std::vector<std::vector<uint64_t>>{
           {0, 3}, {1, 6}, {0, 4, 3, 6}, {0, 7}, {0, 0xffffffff, 6}, {0}})
    CHECK(std::isnan(sum(cuts)));
}

TEST_CASE("every row is on its own") {
  NodeText text = node("sweep:* lane:4 pack:2",
                       {"pack chain", "sweep chain", "lane halving"});
  bitpact::reference::Evaluator evaluator(reduceContract("sum", text));
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> all(37 * 29);
  for (double &value : all)
    value = normal(random);
  Tensor x = tensorOf(Format::F32, {37, 29}, all);
  Tensor y = evaluator.run({{"x", x}}).at("y");
  CHECK(y == evaluator.run({{"x", x}}, 1).at("y"));
  CHECK(y == evaluator.run({{"x", x}}, 5).at("y"));
  CHECK(y.shape == std::vector<int64_t>{37});
  std::vector<double> sums = valuesOf(y);
  for (int row = 0; row < 37; ++row) {
    std::vector<double> one(all.begin() + row * 29,
                            all.begin() + (row + 1) * 29);
    CHECK(reduceRow("sum", text, one) == sums[row]);
  }
}

TEST_CASE("sums are as accurate as their tree promises") {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::vector<double> row(4096);
  double exact = 0, magnitude = 0;
  for (double &value : row) {
    value = static_cast<float>(normal(random));
    exact += value;
    magnitude += std::fabs(value);
  }
  // At most twelve roundings above any element, each of half an ulp.
  double pairwise = reduceRow("sum", node("k:4096", {"k pairwise"}), row);
  CHECK(std::fabs(pairwise - exact) <= 12 * 0x1p-24 * magnitude);
  double chain = reduceRow("sum", node("k:*", {"k chain"}), row);
  CHECK(std::fabs(chain - exact) <= 4096 * 0x1p-24 * magnitude);
  CHECK(pairwise != chain);
}
