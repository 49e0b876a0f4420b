// StateRulesTest.cpp - states, padded dims and indices in contract files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Evaluator.h"
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace bitpact;
using namespace bitpact::test;
using Catch::Matchers::Contains;

namespace {

const std::string logprob = R"({
  "bitpact": 1,
  "name": "test/logprob",
  "op": "selected_logprob@1",
  "dims": { "tokens": "*", "vocab": 12 },
  "types": { "x": "f32", "target": "i64", "y": "f32" },
  "params": { "temperature": "1 f32" },
  "nodes": {
    "max": {
      "domain": { "vocab": { "extent": 10, "stored": 12 } },
      "partition": "k:*",
      "merge": ["k any"],
      "start": "identity",
      "precision": { "accumulator": "f32" }
    },
    "sum": {
      "domain": { "vocab": { "extent": 10, "stored": 12 } },
      "partition": "s:* lane:2 c:2",
      "merge": ["c chain", "s carry", "lane halving merge"],
      "start": "identity",
      "state": "online",
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
}
)";

/// The contract with one change is refused, with exactly this message first.
void refuses(const std::string &from, const std::string &to,
             const std::string &message) {
  INFO(from << " -> " << to);
  expectRefused(with(logprob, from, to), message);
}

const std::string entries = R"("c chain", "s carry", "lane halving merge")";

} // namespace

TEST_CASE("a state, its padding and its index have one canonical form") {
  Outcome outcome = readText(logprob);
  CHECK(outcome.text() == "");
  REQUIRE(outcome.canonical);
  const nlohmann::json &c = *outcome.canonical;
  CHECK(c["nodes"]["sum"]["state"] == "online");
  CHECK_FALSE(c["nodes"]["max"].contains("state"));
  CHECK(c["nodes"]["sum"]["merge"][2] == "lane halving merge");
  CHECK(c["nodes"]["sum"]["domain"].dump() ==
        R"({"vocab":{"extent":10,"stored":12}})");
  CHECK(c["types"]["target"] == "i64");
  CHECK(c["op"]["tensors"][1].dump() ==
        R"({"dims":["tokens"],"kind":"index","name":"target"})");
  const nlohmann::json &body = c["op"]["body"];
  CHECK(body[1].dump() == R"({"id":"v1","op":"index","tensor":"target"})");
  CHECK(body[5].dump() == R"({"args":["v3","v4"],"id":"v5","kind":"exp_sum",)"
                          R"("node":"sum","op":"reduce","over":"vocab"})");
  CHECK(body[6].dump() ==
        R"({"args":["v3","v1"],"id":"v6","op":"take","over":"vocab"})");
  CHECK(c["definitions"]["combine.mul_add.f32"]["args"].size() == 4);

  // A dim of which everything exists is spelled in two ways and is one.
  std::string whole = logprob, object = logprob;
  for (int i = 0; i < 2; ++i) {
    whole = with(whole, R"({ "vocab": { "extent": 10, "stored": 12 } })",
                 "\"vocab\"");
    object = with(object, "\"extent\": 10", "\"extent\": 12");
  }
  CHECK(digestOf(object) == digestOf(whole));
  CHECK(digestOf(whole) != digestOf(logprob));
  std::string eleven = logprob;
  for (int i = 0; i < 2; ++i)
    eleven = with(eleven, "\"extent\": 10", "\"extent\": 11");
  CHECK(digestOf(eleven) != digestOf(logprob));
  CHECK(digestOf(with(logprob, "\"i64\"", "\"i32\"")) != digestOf(logprob));
  CHECK(digestOf(with(logprob, "lane halving merge", "lane pairwise merge")) !=
        digestOf(logprob));
}

TEST_CASE("S: states") {
  refuses("[\"k any\"]", "[\"k pairwise in bf16\"]",
          "test.json:12:16: merge 'k pairwise in bf16' of node 'max' rounds, "
          "and the state of 'sum' takes the exact maximum [S1]");
  std::string one = with(
      logprob, R"({ "vocab": { "extent": 10, "stored": 12 } })", "\"vocab\"");
  CHECK_THAT(readText(one).text(),
             Contains("test.json:17:17: domain of node 'sum' differs from that "
                      "of its maximum 'max'; both reduce the same elements "
                      "[S1]"));
  refuses("      \"state\": \"online\",\n", "",
          "test.json:19:16: node 'sum': an exp_sum says how it meets its "
          "maximum: state is two_pass or online [S2]");
  refuses("\"merge\": [\"k any\"]",
          "\"state\": \"two_pass\", \"merge\": [\"k any\"]",
          "node 'max': the state is two_pass, a max has none; it is for "
          "exp_sum [S2]");
  refuses("\"online\"", "\"later\"",
          "test.json:21:16: state of node 'sum' is 'later'; allowed are "
          "two_pass and online [C4]");
  refuses("\"online\"", "\"two_pass\"",
          "test.json:19:16: node 'sum': merge 's carry': carry is for states "
          "whose maximum runs, this is a two_pass exp_sum [S3]");
  refuses("\"k any\"", "\"k carry\"",
          "node 'max': merge 'k carry': carry is for states whose maximum "
          "runs, this is a max [S3]");
  refuses(entries, R"("c chain", "s chain", "lane halving")",
          "node 'sum': an online exp_sum has a carry or a merge of states; "
          "without one its maximum does not run, which is two_pass [S3]");
  refuses(entries, R"("c carry", "lane halving", "s carry")",
          "node 'sum': merge 's carry': below it is halving, and below that "
          "another carry; carries are consecutive entries [S4]");
  refuses(entries, R"("c carry", "lane halving merge", "s fold")",
          "node 'sum': merge 's fold': below it states are merged, and above "
          "that every merge is one of states [S5]");
  refuses(entries, R"("c chain", "lane fold", "s carry merge")",
          "node 'sum': merge 's carry merge': states meet by fold, pairwise or "
          "halving, not by carry [S5]");
  refuses(entries, R"("c chain", "s carry", "lane halving")",
          "test.json:31:5: 'primitives' binds 'sum.combine', but node 'sum' "
          "merges no states [S6]");
  Outcome twoPass =
      readText(with(with(logprob, "\"online\"", "\"two_pass\""), entries,
                    R"("c chain", "s chain", "lane halving")"));
  REQUIRE(twoPass.messages.size() == 2);
  CHECK_THAT(twoPass.text(),
             Contains("test.json:30:5: 'primitives' binds 'sum.rescale', but "
                      "node 'sum' is two_pass and rescales nothing [S6]"));
  refuses(entries, R"("c chain", "s carry from f32", "lane halving merge")",
          "[T8]");
  refuses(entries, R"("c carry", "s chain", "lane halving merge")",
          "a chain takes elements, below it is carry; over partials write "
          "fold [T5]");
  refuses(entries, R"("c any", "s carry", "lane halving merge")", "[T4]");
}

TEST_CASE("the functions of a state fit their sites") {
  refuses("    \"sum.rescale\": \"exp_diff.f32\",\n", "",
          "primitive site 'sum.rescale' of operator 'selected_logprob' is not "
          "bound in 'primitives' [A1]");
  refuses("\"sum.step\": \"add.f32\"", "\"sum.step\": \"max.f32\"",
          "site 'sum.step' takes a step of sum, and 'max.f32' is a step of max "
          "[A3]");
  refuses("\"sum.weight\": \"exp_diff.f32\"", "\"sum.weight\": \"exp.f32\"",
          "primitive 'exp.f32' at site 'sum.weight' is no function of 2 "
          "arguments [A3]");
  refuses("\"sum.combine\": \"combine.mul_add.f32\"",
          "\"sum.combine\": \"exp_diff.f32\"",
          "primitive 'exp_diff.f32' at site 'sum.combine' is no function of 4 "
          "arguments [A3]");
  refuses("\"sum.weight\": \"exp_diff.f32\"", "\"sum.weight\": \"nothing\"",
          "primitive 'nothing' at site 'sum.weight' is unknown; there are ");
  // The step takes f64 weights: those widen; its l meets f32 functions.
  Outcome wide = readText(with(with(logprob, "\"add.f32\"", "\"add.f64\""),
                               "\"state\": \"online\",\n      \"precision\": { "
                               "\"accumulator\": \"f32\" }",
                               "\"state\": \"online\",\n      \"precision\": { "
                               "\"accumulator\": \"f64\" }"));
  CHECK_THAT(wide.text(),
             Contains("primitive 'combine.mul_add.f32' at site 'sum.combine' "
                      "takes 'f32' as argument 0, and 'f64' does not widen to "
                      "it exactly [A3]"));
}

TEST_CASE("D4, D5, P1: padding and indices") {
  refuses("\"vocab\": 12", "\"vocab\": 13",
          "test.json:10:17: domain of node 'max' has extent 10 of 12 stored, "
          "and dim 'vocab' is 13; stored is the dim, which is a number, and 1 "
          "<= extent <= stored [D4]");
  refuses("\"vocab\": 12", "\"vocab\": \"*\"", "and dim 'vocab' is \"*\";");
  refuses("\"extent\": 10", "\"extent\": 13", "has extent 13 of 12 stored");
  refuses("\"extent\": 10", "\"extent\": 0",
          "test.json:10:40: 'extent' of domain 'vocab' is 0; allowed are "
          "positive integers below 2^63 [D4]");
  refuses("{ \"vocab\": { \"extent\": 10, \"stored\": 12 } }", "{}",
          "test.json:10:17: domain of node 'max' names 0 dims; write one [D2]");
  refuses("{ \"vocab\"", "{ \"tokens\"",
          "domain of node 'max' is 'tokens', but the node reduces over 'vocab' "
          "[D2]");
  refuses("\"k:*\"", "\"k:9\"", "[PI5]");
  refuses("\"i64\"", "\"f32\"",
          "test.json:6:36: tensor 'target' has type f32; an index is i32 or "
          "i64 [P1]");
  refuses("\"x\": \"f32\"", "\"x\": \"i64\"",
          "tensor 'x' has type i64; allowed are bf16, f16, f32 and f64, and "
          "i32 only for a tensor that a node names in 'offsets', i32 and i64 "
          "for an index [P1]");
  std::string norm = with(
      with(good, "\"hidden\": 16", "\"hidden\": 20"), "\"domain\": \"hidden\"",
      "\"domain\": { \"hidden\": { \"extent\": 16, \"stored\": 20 } }");
  CHECK(readText(norm).canonical);
}

TEST_CASE("the oracle evaluates a log-probability from its file") {
  reference::Evaluator evaluator(readText(logprob).canonical.value());
  // Ten equal logits: every probability is 1/10, whatever the padding holds.
  std::vector<float> x(12 * 4, 3.0f);
  for (int row = 0; row < 4; ++row)
    x[row * 12 + 10] = x[row * 12 + 11] = NAN;
  // Row 3: one logit so high that the others vanish.
  x[3 * 12 + 4] = 500;
  auto y = evaluator.run(
      {{"x", tensor(algebra::Format::F32, {4, 12}, x)},
       {"target", tensor<int64_t>(algebra::Format::I64, {4}, {0, 9, 10, 4})}});
  std::vector<uint32_t> bits(4);
  std::memcpy(bits.data(), y.at("y").bytes.data(), 16);
  // -log 10 in f32 is 0xc0135d8e.
  CHECK(bits == std::vector<uint32_t>{0xc0135d8e, 0xc0135d8e, 0x7fc00000, 0});
}

TEST_CASE("D5: an operator that uses the extent of a dim has one") {
  const std::string norm = R"({
  "bitpact": 1,
  "name": "test/layer_norm",
  "op": "layer_norm@1",
  "dims": { "tokens": "*", "hidden": 12 },
  "types": { "x": "f32", "weight": "f32", "bias": "f32", "y": "f32" },
  "params": { "eps": "1e-5 f32" },
  "nodes": {
    "sum": {
      "use": "row.serial@1",
      "domain": { "hidden": { "extent": 10, "stored": 12 } },
      "precision": { "accumulator": "f32" }
    },
    "sum_sq": {
      "use": "row.serial@1",
      "domain": { "hidden": { "extent": 11, "stored": 12 } },
      "precision": { "product": "exact", "accumulator": "f32" }
    }
  },
  "rounding": {
    "mean": "f32 rne", "centered": "f32 rne", "var": "f32 rne",
    "normed": "f32 rne", "scaled": "exact", "y": "f32 rne"
  },
  "primitives": {
    "sum.step": "add.f32",
    "sum_sq.step": "dot.fma.f32",
    "rsqrt": "rsqrt.div_sqrt.f32"
  }
})";
  CHECK_THAT(readText(norm).text(),
             Contains("test.json:16:17: domains of nodes 'sum' and 'sum_sq' "
                      "over dim 'hidden' have different extents, and operator "
                      "'layer_norm' uses the extent of this dim [D5]"));
  CHECK(readText(with(norm, "\"extent\": 11", "\"extent\": 10")).text() == "");
}
