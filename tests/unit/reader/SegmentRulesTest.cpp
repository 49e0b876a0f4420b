// SegmentRulesTest.cpp - segments of contract files, and what the oracle makes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Evaluator.h"
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Matchers::Contains;

namespace {

const std::string grouped = R"json({
  "bitpact": 1,
  "name": "test",
  "op": "grouped_matmul@1",
  "dims": { "tokens": "*", "experts": 2, "boundaries": "*", "out": "*", "in": 40 },
  "types": { "x": "bf16", "weight": "bf16", "offsets": "i32", "y": "f32" },
  "nodes": {
    "dot": {
      "domain": "in", "partition": "step:* k:16",
      "merge": ["k fused(dot.nv(16,25))", "step chain"], "start": "identity",
      "precision": { "product": "exact", "accumulator": "f32" }
    }
  },
  "rounding": { "y": "f32 rne" },
  "primitives": { "dot.step": "dot.nv(16,25)" }
})json";

void refuses(const std::string &from, const std::string &to,
             const std::string &message) {
  INFO(from << " -> " << to);
  expectRefused(with(grouped, from, to), message);
}

} // namespace

TEST_CASE("a segment has one canonical form") {
  Outcome outcome = readText(grouped);
  CHECK(outcome.text() == "");
  REQUIRE(outcome.canonical);
  const nlohmann::json &op = (*outcome.canonical)["op"];
  CHECK(op["tensors"][2].dump() ==
        R"({"dims":["boundaries"],"kind":"in","name":"offsets"})");
  CHECK(op["body"][3].dump() ==
        R"({"args":["v2"],"id":"v3","op":"segment","over":"tokens"})");
  CHECK(op["body"][4].dump() ==
        R"({"args":["v1","v3"],"id":"v4","op":"take","over":"experts"})");
}

TEST_CASE("the digest of a grouped product covers the experts, not the rows") {
  const std::string own = digestOf(grouped);
  CHECK(digestOf(with(grouped, "\"tokens\": \"*\"", "\"tokens\": 7")) == own);
  CHECK(digestOf(with(grouped, "\"boundaries\": \"*\"", "\"boundaries\": 3")) ==
        own);
  CHECK(digestOf(with(grouped, "\"out\": \"*\"", "\"out\": 64")) == own);
  CHECK(digestOf(with(grouped, "\"experts\": 2", "\"experts\": 3")) != own);
  CHECK(digestOf(with(grouped, "\"in\": 40", "\"in\": 48")) != own);
}

TEST_CASE("the offsets of a segment are i32") {
  for (const char *format : {"i64", "f32", "bf16"})
    refuses("\"offsets\": \"i32\"",
            "\"offsets\": \"" + std::string(format) + "\"",
            "test.json:6:56: tensor 'offsets' has type " + std::string(format) +
                "; offsets of a segment are i32 [P1]");
  refuses("\"weight\": \"bf16\"", "\"weight\": \"i32\"",
          "; allowed are bf16, f16, f32 and f64, and i32 only for a tensor "
          "that a node names in 'offsets', i32 and i64 for an index [P1]");
  refuses(", \"offsets\": \"i32\"", "",
          "tensor 'offsets' of operator 'grouped_matmul' is not bound in "
          "'types' [C6]");
}

TEST_CASE("the oracle multiplies each row with the weights of its expert") {
  // bf16 1, 2 and 3; the sums are small whole numbers, exact in any order.
  const uint16_t one = 0x3f80, two = 0x4000, three = 0x4040;
  std::vector<uint16_t> x(3 * 40, one), weight(2 * 2 * 40);
  for (size_t at = 0; at < weight.size(); ++at)
    weight[at] = at < 40 ? one : at < 80 ? two : at < 120 ? three : 0;
  Outcome outcome = readText(grouped);
  REQUIRE(outcome.canonical);
  reference::Evaluator evaluator(*outcome.canonical);
  auto of = [&](const std::vector<int32_t> &offsets) {
    using algebra::Format;
    return evaluator
        .run({{"x", tensor(Format::BF16, {3, 40}, x)},
              {"weight", tensor(Format::BF16, {2, 2, 40}, weight)},
              {"offsets",
               tensor(Format::I32, {int64_t(offsets.size())}, offsets)}})
        .at("y");
  };
  auto expected = [&](const std::vector<float> &values) {
    return tensor(algebra::Format::F32, {3, 2}, values);
  };
  CHECK(of({0, 1, 3}) == expected({40, 80, 120, 0, 120, 0}));
  CHECK(of({0, 3, 3}) == expected({40, 80, 40, 80, 40, 80}));
  CHECK(of({0, 0, 3}) == expected({120, 0, 120, 0, 120, 0}));
  reference::Tensor bad = of({0, 2, 2});
  for (size_t at = 0; at < 6; ++at) {
    uint32_t bits;
    std::memcpy(&bits, &bad.bytes[4 * at], 4);
    CHECK(bits == 0x7fc00000);
  }
}
