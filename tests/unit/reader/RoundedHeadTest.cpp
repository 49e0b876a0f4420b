// RoundedHeadTest.cpp - logits rounded to bf16 are another contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen in the field: a head that stores its logits as bf16 before the log
// softmax; log-probabilities are wrong by nats, and nothing says why.
#include "contracts/reference/Evaluator.h"
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace bitpact;
using namespace bitpact::test;
using nlohmann::json;

namespace {

const std::string head = R"({
  "bitpact": 1,
  "name": "test/head",
  "op": "selected_logprob@1",
  "dims": { "tokens": "*", "vocab": "*" },
  "types": { "x": "f32", "target": "i32", "y": "f32" },
  "params": { "temperature": "1 f32" },
  "nodes": {
    "max": {
      "use": "row.pack8_lane32@1",
      "domain": "vocab",
      "precision": { "accumulator": "f32" }
    },
    "sum": {
      "use": "state.pack8_lane32@1",
      "domain": "vocab",
      "precision": { "accumulator": "f32" }
    }
  },
  "rounding": { "scaled": "f32 rne", "centered": "f32 rne", "y": "f32 rne" },
  "primitives": {
    "max.step": "max.f32",
    "sum.step": "add.f32",
    "sum.weight": "exp_diff.f32",
    "sum.rescale": "exp_diff.f32",
    "sum.combine": "combine.mul_add.f32",
    "log": "log.f32"
  }
})";

const std::string rounded =
    with(head, "\"scaled\": \"f32 rne\"", "\"scaled\": \"bf16 rne\"");

/// The log-probability of column 0.
double logprob(const std::string &text, const std::vector<float> &logits) {
  Outcome outcome = readText(text);
  INFO(outcome.text());
  REQUIRE(outcome.canonical);
  reference::Tensor x{algebra::Format::F32, {1, int64_t(logits.size())}, {}};
  x.bytes.resize(logits.size() * sizeof(float));
  std::memcpy(x.bytes.data(), logits.data(), x.bytes.size());
  reference::Tensor target{
      algebra::Format::I32, {1}, std::vector<uint8_t>(4, 0)};
  auto y = reference::Evaluator(*outcome.canonical)
               .run({{"x", x}, {"target", target}});
  float result;
  std::memcpy(&result, y.at("y").bytes.data(), sizeof(result));
  return result;
}

} // namespace

TEST_CASE("a rounded head differs in one entry of R") {
  Outcome a = readText(head), b = readText(rounded);
  REQUIRE(a.canonical);
  REQUIRE(b.canonical);
  CHECK(a.digest != b.digest);
  CHECK(json::diff(*a.canonical, *b.canonical) ==
        json::parse(R"([{"op": "replace", "path": "/rounding/scaled/format",
                         "value": "bf16"}])"));
}

TEST_CASE("a rounded head is wrong by nats") {
  // Around 1000, bf16 has steps of 4: 1005.875 becomes 1004.
  std::vector<float> logits{1000, 1005.875f};
  double exact = logprob(head, logits), off = logprob(rounded, logits);
  CHECK(exact == Approx(-5.875 - std::log1p(std::exp(-5.875))).epsilon(1e-6));
  CHECK(off == Approx(-4 - std::log1p(std::exp(-4.0))).epsilon(1e-6));
  CHECK(off - exact > 1.8);
  // Logits that bf16 holds are the same in both, to the bit.
  CHECK(logprob(head, {3, 1, 2}) == logprob(rounded, {3, 1, 2}));
}
