// RmsNormTest.cpp - a whole operator: values by hand, sites, accuracy
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace bitpact::tests;
using bitpact::algebra::Format;
using bitpact::reference::Evaluator;

static NodeText sweep() {
  NodeText node;
  node.partition = "sweep:* lane:512 pack:8";
  node.merge = {"pack chain", "sweep chain", "lane halving"};
  return node;
}

static Tensor random(std::vector<int64_t> shape, unsigned seed,
                     Format format = Format::BF16) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  int64_t count = 1;
  for (int64_t n : shape)
    count *= n;
  std::vector<double> values(count);
  for (double &value : values)
    value = normal(generator);
  return tensorOf(format, std::move(shape), values);
}

TEST_CASE("rms_norm by hand") {
  Evaluator evaluator(rmsNormContract(sweep(), "bf16", "0")); // eps = 0
  Tensor x = tensorOf(Format::BF16, {2, 4}, {3, 3, -3, 3, 8, 0, 0, 0});
  Tensor weight = tensorOf(Format::BF16, {4}, {1.5, 1, 1, -2});
  auto named = evaluator.runNamed({{"x", x}, {"weight", weight}});
  // Row 0: 36 / 4 = 9, 1 / 3 = 11184811 * 2^-25; times 3 is 1 + 2^-25, so 1.
  // Row 1: 64 / 4 = 16, 1 / 4; 8 / 4 = 2.
  CHECK(valuesOf(named.at("sum_sq")) == std::vector<double>{36, 64});
  CHECK(valuesOf(named.at("mean_sq")) == std::vector<double>{9, 16});
  CHECK(valuesOf(named.at("normed")) ==
        std::vector<double>{1, 1, -1, 1, 2, 0, 0, 0});
  CHECK(valuesOf(named.at("y")) ==
        std::vector<double>{1.5, 1, -1, -2, 3, 0, 0, 0});
  CHECK(std::signbit(valuesOf(named.at("y"))[7])); // 0 * -2
  CHECK(named.size() == 4);
  CHECK(named.at("sum_sq").shape == std::vector<int64_t>{2});
  CHECK(named.at("normed").format == Format::F32);
  CHECK(named.at("y").format == Format::BF16);
  auto outputs = evaluator.run({{"x", x}, {"weight", weight}});
  CHECK(outputs.size() == 1);
  CHECK(outputs.at("y") == named.at("y"));
}

TEST_CASE("eps and the extent matter") {
  Tensor x = tensorOf(Format::BF16, {1, 2}, {0, 0});
  Tensor weight = tensorOf(Format::BF16, {2}, {1, 1});
  // 0 / sqrt(0): 0 * Inf is NaN without eps, 0 with it.
  Evaluator bare(rmsNormContract(sweep(), "bf16", "0"));
  Evaluator usual(rmsNormContract(sweep(), "bf16"));
  CHECK(bitsOf(bare.run({{"x", x}, {"weight", weight}}).at("y")) ==
        std::vector<uint64_t>{0x7fc0, 0x7fc0});
  CHECK(bitsOf(usual.run({{"x", x}, {"weight", weight}}).at("y")) ==
        std::vector<uint64_t>{0, 0});
}

TEST_CASE("a rounding site that is moved shows") {
  Tensor x = random({3, 576}, 1), weight = random({576}, 2);
  auto contract = rmsNormContract(sweep(), "bf16");
  Tensor plain =
      Evaluator(contract).run({{"x", x}, {"weight", weight}}).at("y");
  contract["rounding"]["normed"]["format"] = "bf16";
  Tensor rounded =
      Evaluator(contract).run({{"x", x}, {"weight", weight}}).at("y");
  CHECK_FALSE(plain == rounded);
}

TEST_CASE("partitions that mean another tree give other sums") {
  Tensor x = random({4, 4096}, 3), weight = random({4096}, 4);
  auto sums = [&](const std::string &partition,
                  const std::vector<std::string> &merge) {
    NodeText node;
    node.partition = partition;
    node.merge = merge;
    return valuesOf(Evaluator(rmsNormContract(node, "bf16"))
                        .runNamed({{"x", x}, {"weight", weight}})
                        .at("sum_sq"));
  };
  std::vector<std::vector<double>> all{
      sums("k:*", {"k chain"}),
      sums("lane:512 pack:8", {"pack chain", "lane halving"}),
      sums("lane:512 pack:8", {"pack chain", "lane pairwise"}),
      sums("lane:512 pack:8", {"pack chain", "lane fold"}),
      sums("sweep:* lane:32 pack:8",
           {"pack chain", "sweep chain", "lane halving"})};
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      CHECK(all[i] != all[j]);
  // Over 4096 elements the sweep of 4096 is one: the same tree.
  CHECK(sums("sweep:* lane:512 pack:8",
             {"pack chain", "sweep chain", "lane halving"}) == all[1]);
}

TEST_CASE("rms_norm is accurate against f64") {
  Tensor x = random({8, 4096}, 5), weight = random({4096}, 6);
  std::vector<double> xs = valuesOf(x), ws = valuesOf(weight);
  for (const char *type : {"bf16", "f32"}) {
    Format format = *bitpact::algebra::parseFormat(type);
    std::vector<double> got =
        valuesOf(Evaluator(rmsNormContract(sweep(), type))
                     .run({{"x", tensorOf(format, {8, 4096}, xs)},
                           {"weight", tensorOf(format, {4096}, ws)}})
                     .at("y"));
    // Half an ulp of the output and a few of f32 in between.
    double allowed = format == Format::BF16 ? 0x1.01p-8 : 0x1p-20;
    double worst = 0;
    for (int row = 0; row < 8; ++row) {
      double sum = 0;
      for (int i = 0; i < 4096; ++i)
        sum += xs[row * 4096 + i] * xs[row * 4096 + i];
      double scale = 1 / std::sqrt(sum / 4096 + 1e-6);
      for (int i = 0; i < 4096; ++i) {
        double exact = xs[row * 4096 + i] * scale * ws[i];
        if (exact != 0)
          worst = std::max(worst, std::fabs(got[row * 4096 + i] / exact - 1));
      }
    }
    CHECK(worst < allowed);
    CHECK(worst > allowed / 64); // it does round
  }
}

TEST_CASE("rows do not depend on their batch") {
  Tensor x = random({33, 257}, 7), weight = random({257}, 8);
  Evaluator evaluator(rmsNormContract(sweep(), "bf16"));
  Tensor all = evaluator.run({{"x", x}, {"weight", weight}}).at("y");
  for (int row : {0, 1, 16, 32}) {
    auto begin = x.bytes.begin() + row * 257 * 2;
    Tensor one{Format::BF16, {1, 257}, {begin, begin + 257 * 2}};
    Tensor y = evaluator.run({{"x", one}, {"weight", weight}}).at("y");
    CHECK(std::equal(y.bytes.begin(), y.bytes.end(),
                     all.bytes.begin() + row * 257 * 2));
  }
}
