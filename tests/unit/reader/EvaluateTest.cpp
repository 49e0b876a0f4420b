// EvaluateTest.cpp - what the reader writes is what the oracle reads
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Evaluator.h"
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace bitpact;
using namespace bitpact::test;

static reference::Tensor tensor(std::vector<int64_t> shape,
                                const std::vector<float> &values) {
  return test::tensor(algebra::Format::F32, std::move(shape), values);
}

static reference::Evaluator evaluator(const std::string &text) {
  Outcome outcome = readText(text);
  INFO(outcome.text());
  REQUIRE(outcome.canonical);
  return reference::Evaluator(*outcome.canonical);
}

static const std::string sumText = R"({
  "bitpact": 1,
  "name": "sum",
  "op": "sum@1",
  "dims": { "tokens": "*", "hidden": "*" },
  "types": { "x": "f32", "y": "f32" },
  "nodes": {
    "sum": {
      "use": "row.serial@1",
      "domain": "hidden",
      "precision": { "accumulator": "f32" }
    }
  },
  "rounding": { "y": "f32 rne" },
  "primitives": { "sum.step": "add.f32" }
})";

TEST_CASE("the oracle evaluates a sum, and the tree shows") {
  // In f32, 1e8 + 1 = 1e8 and -1e8 + 1 = -1e8.
  reference::Tensor x = tensor({2, 4}, {1e8f, 1, -1e8f, 1, 1, 2, 3, 4});
  CHECK(evaluator(sumText).run({{"x", x}}).at("y") == tensor({2}, {1, 10}));
  std::string pairwise = with(sumText, "row.serial@1", "row.pairwise@1");
  CHECK(evaluator(pairwise).run({{"x", x}}).at("y") == tensor({2}, {0, 10}));
}

TEST_CASE("the oracle rounds a sum at its site") {
  // The sum is 1 + 2^-8, half way between 1 and the next bf16: rounded it is 1,
  // and a residual of -1 leaves nothing.
  std::string fused = R"({
    "bitpact": 1, "name": "t", "op": "matmul_residual@1",
    "dims": { "tokens": "*", "out": "*", "in": "*" },
    "types": { "x": "f32", "weight": "f32", "residual": "f32", "y": "f32" },
    "nodes": { "dot": { "domain": "in", "partition": "k:*",
      "merge": ["k chain"], "start": "identity",
      "precision": { "product": "exact", "accumulator": "f32" } } },
    "rounding": { "product": "f32 rne", "y": "f32 rne" },
    "primitives": { "dot.step": "dot.fma.f32" }
  })";
  std::map<std::string, reference::Tensor> given = {
      {"x", tensor({1, 2}, {1, 0x1p-8f})},
      {"weight", tensor({1, 2}, {1, 1})},
      {"residual", tensor({1, 1}, {-1})}};
  CHECK(evaluator(fused).run(given).at("y") == tensor({1, 1}, {0x1p-8f}));
  std::string separate =
      with(fused, "\"product\": \"f32 rne\"", "\"product\": \"bf16 rne\"");
  CHECK(evaluator(separate).run(given).at("y") == tensor({1, 1}, {0}));
}

TEST_CASE("the oracle rounds a function's value at its site") {
  // silu(z) is z where e^-z is below half an ulp of 1. In bf16 257 is 256, since
  // above 256 neighbours are 2 apart.
  std::string node = R"({ "domain": "in", "partition": "k:*",
      "merge": ["k chain"], "start": "identity",
      "precision": { "product": "exact", "accumulator": "f32" } })";
  auto gated = [&](std::string gate, std::string activation, std::string up) {
    return R"({
    "bitpact": 1, "name": "t", "op": "swiglu@1",
    "dims": { "tokens": "*", "out": "*", "in": "*" },
    "types": { "x": "f32", "gate_weight": "f32", "up_weight": "f32", "y": "f32" },
    "nodes": { "gate": )" +
           node + R"(, "up": )" + node + R"( },
    "rounding": { "gate_product": ")" +
           gate + R"(", "activation": ")" + activation + R"(", "up_product": ")" + up +
           R"(", "y": "f32 rne" },
    "primitives": { "gate.step": "dot.fma.f32", "up.step": "dot.fma.f32",
      "silu": "silu.f32" } })";
  };
  std::map<std::string, reference::Tensor> given = {
      {"x", tensor({1, 2}, {1, 256})},
      {"gate_weight", tensor({2, 2}, {1, 1, 384, 0})},
      {"up_weight", tensor({2, 2}, {3, 0, 1, 1})}};
  auto of = [&](std::string gate, std::string activation, std::string up) {
    return evaluator(gated(gate, activation, up)).run(given).at("y");
  };
  std::string f32 = "f32 rne", bf16 = "bf16 rne";
  // Gates 257 and 384, ups 3 and 257.
  CHECK(of(f32, f32, f32) == tensor({1, 2}, {771, 98688}));
  CHECK(of(bf16, f32, f32) == tensor({1, 2}, {768, 98688}));
  CHECK(of(f32, bf16, f32) == tensor({1, 2}, {768, 98688}));
  CHECK(of(f32, f32, bf16) == tensor({1, 2}, {771, 98304}));
}

TEST_CASE("the oracle evaluates rms_norm") {
  // mean of squares 4, so 1/sqrt is 1/2 and every row becomes signs times w.
  std::string text =
      with(with(good, "\"x\": \"bf16\", \"weight\": \"bf16\", \"y\": \"bf16\"",
                "\"x\": \"f32\", \"weight\": \"f32\", \"y\": \"f32\""),
           "\"y\": \"bf16 rne\"", "\"y\": \"f32 rne\"");
  text = with(with(text, "\"hidden\": 16", "\"hidden\": 4"), "1e-6", "0");
  auto outputs = evaluator(text).run({{"x", tensor({1, 4}, {2, -2, 2, -2})},
                                      {"weight", tensor({4}, {1, 2, 3, 4})}});
  CHECK(outputs.at("y") == tensor({1, 4}, {1, -2, 3, -4}));
}

TEST_CASE("every shipped primitive is one that the oracle knows") {
  for (const char *rsqrt : {"rsqrt.div_sqrt.f32", "rsqrt.f64_rounded.f32"})
    evaluator(with(good, "rsqrt.div_sqrt.f32", rsqrt));
  evaluator(with(with(good, "dot.fma.f32", "dot.mul_add.f32"), "exact", "f32"));
  std::string atom = with(good, "dot.fma.f32", "dot.nv(16,25)");
  evaluator(with(atom, "pack chain", "pack fused(dot.nv(16,25))"));
  std::string wide =
      with(with(good, "\"accumulator\": \"f32\"", "\"accumulator\": \"f64\""),
           "rsqrt.div_sqrt.f32", "rsqrt.div_sqrt.f64");
  for (const char *step : {"dot.fma.f64", "dot.mul_add.f64"}) {
    std::string text =
        with(with(wide, "dot.fma.f32", step), "\"mean_sq\": \"f32 rne\"",
             "\"mean_sq\": \"f64 rne\"");
    if (std::string(step) == "dot.mul_add.f64")
      text = with(text, "exact", "f64");
    evaluator(text);
  }
  evaluator(with(with(sumText, "add.f32", "add.f64"),
                 "\"accumulator\": \"f32\"", "\"accumulator\": \"f64\""));
}
