// RulesTest.cpp - one test a rule: place, message and ID
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/reader/ReaderFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact::test;
using Catch::Matchers::Contains;

namespace {

/// The contract with one change is refused, with exactly this message first.
void refuses(const std::string &from, const std::string &to,
             const std::string &message) {
  INFO(from << " -> " << to);
  Outcome outcome = readText(with(good, from, to));
  CHECK_FALSE(outcome.canonical);
  REQUIRE_FALSE(outcome.messages.empty());
  CHECK_THAT(outcome.messages[0], Contains(message));
}

} // namespace

TEST_CASE("the good contract is accepted without a word") {
  Outcome outcome = readText(good);
  CHECK(outcome.text() == "");
  REQUIRE(outcome.canonical);
  CHECK(outcome.digest.size() == 64);
}

TEST_CASE("C: the contract file") {
  refuses("\"op\":", "op:", "test.json:4:3: this is no JSON: ");
  refuses("\"rms_norm@1\",", "\"rms_norm@1\"",
          "test.json:5:3: this is no JSON");
  refuses("1,", "1, /* no */",
          "test.json:2:17: a comment begins with // and ends with its line "
          "[C1]");
  refuses("\"name\"", "\"nmae\"",
          "test.json:3:3: unknown key 'nmae' in the contract; allowed are "
          "bitpact, extends, name, doc, op, dims, types, params, nodes, "
          "rounding, primitives [C2]");
  refuses("\"start\"", "\"begin\"",
          "test.json:13:7: unknown key 'begin' in 'sum_sq'; allowed are use, "
          "domain, partition, offsets, merge, start, state, precision [C2]");
  refuses("\"weight\": \"bf16\"", "\"weight\": \"bf16\", \"weight\": \"f32\"",
          "test.json:6:45: key 'weight' stands twice in one object [C3]");
  refuses("\"rms_norm@1\"", "7",
          "test.json:4:9: 'op' must be a string, not a number [C4]");
  refuses("[\"pack chain\", \"sweep chain\", \"lane halving\"]",
          "\"pack chain\"",
          "test.json:12:16: 'merge' must be a list of strings, not a string "
          "[C4]");
  refuses("\"hidden\": 16", "\"hidden\": \"many\"",
          "test.json:5:38: dim 'hidden' is 'many'; allowed are \"*\" and "
          "positive integers [C4]");
  refuses("\"identity\"", "\"zero\"",
          "test.json:13:16: start of node 'sum_sq' is 'zero'; allowed are "
          "identity and first [C4]");
  refuses("\"bitpact\": 1", "\"bitpact\": 2",
          "test.json:2:14: 'bitpact' is 2, but this compiler reads version 1 "
          "[C5]");
  refuses("  \"op\": \"rms_norm@1\",\n", "",
          "test.json:1:1: the contract has no key 'op' [C6]");
  refuses("      \"start\": \"identity\",\n", "",
          "test.json:9:15: 'sum_sq' has no key 'start' [C6]");
  refuses("\"x\": \"bf16\", ", "",
          "tensor 'x' of operator 'rms_norm' is not bound in 'types' [C6]");
  refuses("\"rms_norm@1\"", "\"rms_norm@9\"",
          "test.json:4:9: unknown operator 'rms_norm@9'; there are "
          "add_rms_norm@1, column_sum@1, grouped_matmul@1, layer_norm@1, "
          "log_sum_exp@1, matmul@1, matmul_bias@1, matmul_residual@1, "
          "offset_rms_norm@1, "
          "packed_column_sum@1, rms_norm@1, selected_logprob@1, "
          "selected_logprob_lse@1, silu_and_mul@1, softmax@1, sum@1, swiglu@1 [C7]");
  refuses("\"x\": \"bf16\"", "\"x\": \"bf16\", \"z\": \"bf16\"",
          "test.json:6:27: 'types' binds 'z', but operator 'rms_norm' has no "
          "such tensor; there are x, weight, y [C2]");
}

TEST_CASE("C8: extends") {
  Folder folder;
  std::string lost = folder.write(
      "lost.json", R"({ "bitpact": 1, "extends": "nowhere.json" })");
  CHECK_THAT(read(lost).text(), Contains("lost.json:1:28: cannot read '") &&
                                    Contains("nowhere.json': No such file") &&
                                    Contains("[C8]"));
  folder.write("a.json", R"({ "bitpact": 1, "extends": "b.json" })");
  std::string b =
      folder.write("b.json", R"({ "bitpact": 1, "extends": "a.json" })");
  CHECK_THAT(read(b).text(),
             Contains("'extends' goes in a circle: b.json -> a.json -> b.json "
                      "[C8]"));
  CHECK_THAT(read("/nowhere/at/all.json").text(), Contains("[C8]"));

  // An error in a base is reported where it stands.
  folder.write("base.json", with(good, "lane:4", "lane:0"));
  std::string derived = folder.write(
      "derived.json", R"({ "bitpact": 1, "extends": "base.json" })");
  CHECK_THAT(read(derived).text(),
             Contains("base.json:11:20: ") && Contains("[PI6]"));
}

TEST_CASE("C9: presets") {
  refuses("\"domain\"", "\"use\": \"row.nothing@1\", \"domain\"",
          "test.json:10:14: unknown preset 'row.nothing@1'; there are "
          "row.lane32@1, ");
}

TEST_CASE("D: domain") {
  refuses("\"tokens\": \"*\", ", "",
          "test.json:5:11: dim 'tokens' of operator 'rms_norm' is not bound in "
          "'dims' [D1]");
  refuses("\"tokens\": \"*\"", "\"tokens\": \"*\", \"heads\": 3",
          "'dims' binds 'heads', but operator 'rms_norm' has no such dim; "
          "there are tokens, hidden [D1]");
  refuses("\"domain\": \"hidden\"", "\"domain\": \"tokens\"",
          "test.json:10:17: domain of node 'sum_sq' is 'tokens', but the node "
          "reduces over 'hidden' [D2]");
  refuses("\"hidden\": 16", "\"hidden\": 0",
          "test.json:5:38: dim 'hidden' has extent 0; allowed are \"*\" and "
          "positive integers [D3]");
  refuses("\"hidden\": 16", "\"hidden\": -9223372036854775808", "[D3]");
  refuses("\"hidden\": 16", "\"hidden\": 99999999999999999999",
          "positive integers below 2^63 [D3]");
}

TEST_CASE("PI: partition") {
  const std::string digits = "sweep:* lane:4 pack:2";
  auto partition = [&](const std::string &text, const std::string &rule) {
    refuses(digits, text, "test.json:11:20: node 'sum_sq': ");
    refuses(digits, text, rule);
  };
  partition("sweep;* lane:4 pack:2", "[PI1]");
  partition("sweep:* lane:4 lane:2", "[PI2]");
  partition("sweep:* lane:* pack:2", "[PI3]");
  partition("a:2 sweep:* lane:4 pack:2", "[PI4]");
  partition("sweep:1 lane:4 pack:2", "[PI5]");
  partition("sweep:* lane:0 pack:2", "[PI6]");
  refuses(digits, "sweep:@offsets lane:* pack:2", "[PI7]");
  refuses("\"start\"", "\"offsets\": \"x\", \"start\"",
          "no digit of its partition is cut with @offsets [PI7]");
  // With any extent, one digit must be open.
  Outcome open = readText(with(
      with(good, "\"hidden\": 16", "\"hidden\": \"*\""), "sweep:*", "sweep:2"));
  CHECK_THAT(open.text(),
             Contains("cover 16 elements, but dim 'hidden' has any "
                      "extent; one digit needs the radix * [PI5]"));
}

TEST_CASE("T: merge order") {
  const std::string halving = "\"lane halving\"";
  refuses(", " + halving, "", "[T1]");
  refuses(halving, halving + ", \"lane fold\"", "[T1]");
  refuses(halving, "\"line halving\"", "[T1]");
  Outcome radix =
      readText(with(with(good, "lane:4", "lane:3"), "pack:2", "pack:2"));
  CHECK_THAT(radix.text(), Contains("test.json:12:16: ") && Contains("[T2]"));
  refuses("\"sweep chain\"", "\"sweep halving\"", "[T3]");
  refuses(halving, "\"lane any\"", "[T4]");
  Outcome above = readText(with(with(good, "\"sweep chain\"", "\"sweep fold\""),
                                halving, "\"lane chain\""));
  CHECK_THAT(above.text(), Contains("[T5]"));
  refuses("\"pack chain\"", "\"pack fused(dot.nv(1,25))\"", "");
  refuses(halving, "\"lane fused(dot.nv(16,25))\"", "[T6]");
  Outcome fused = readText(
      with(with(good, "\"pack chain\"", "\"pack fused(dot.nv(16,25))\""),
           "\"identity\"", "\"first\""));
  CHECK_THAT(fused.text(), Contains("[T7]"));
  refuses(halving, "\"lane sideways\"", "test.json:12:46: ");
  refuses(halving, "\"lane sideways\"", "[T8]");
}

TEST_CASE("P: precision") {
  refuses("\"x\": \"bf16\"", "\"x\": \"f8\"",
          "test.json:6:19: tensor 'x' has the unknown format 'f8'; allowed are "
          "bf16, f16, f32 and f64, i32 for offsets, i32 and i64 for an index "
          "[P1]");
  refuses("\"x\": \"bf16\"", "\"x\": \"i32\"", "[P1]");
  refuses("1e-6 f32", "1e-6", "write a decimal number and its format");
  refuses("1e-6 f32", "nan f32", "'nan', which is no decimal number [P1]");
  refuses("1e-6 f32", "1e39 f32", "which is too large for its format [P1]");
  refuses("\"product\": \"exact\"", "\"product\": \"f32\"",
          "test.json:14:33: product of node 'sum_sq' is 'f32', but the step "
          "'dot.fma.f32' has product 'exact' [P2]");
  refuses("\"product\": \"exact\", ", "",
          "product of node 'sum_sq' is not stated, but the step 'dot.fma.f32' "
          "has product 'exact' [P2]");
  refuses("\"accumulator\": \"f32\"", "\"accumulator\": \"f64\"",
          "test.json:14:57: accumulator of node 'sum_sq' is 'f64', but the "
          "step 'dot.fma.f32' accumulates in 'f32' [P3]");
  refuses("\"y\": \"bf16 rne\"", "\"y\": \"f32 rne\"",
          "site 'y' rounds to 'f32', but the type of its output tensor 'y' is "
          "'bf16' [P4]");
}

TEST_CASE("R: rounding") {
  refuses("\"mean_sq\": \"f32 rne\", ", "",
          "test.json:17:15: rounding site 'mean_sq' of operator 'rms_norm' is "
          "not bound in 'rounding' [R1]");
  refuses("\"mean_sq\": \"f32 rne\"",
          "\"mean_sq\": \"f32 rne\", \"rstd\": \"f32 rne\"",
          "test.json:17:39: 'rounding' binds 'rstd', but operator 'rms_norm' "
          "has no such rounding site; there are mean_sq, normed, y [R2]");
  refuses("\"normed\": \"f32 rne\"", "\"normed\": \"exact\"",
          "site 'normed' is exact, but its value has a consumer that is no "
          "addition or subtraction; exact is allowed on a product that "
          "additions or subtractions consume, one product each [R3]");
  refuses("\"mean_sq\": \"f32 rne\"", "\"mean_sq\": \"exact\"",
          "site 'mean_sq' is exact, but its value is no multiplication");
  refuses("\"normed\": \"f32 rne\"", "\"normed\": \"f32 rtz\"",
          "test.json:17:49: site 'normed' rounds to 'f32 rtz'; allowed are "
          "\"exact\" and one of bf16, f16, f32 and f64 with the mode rne, as "
          "in \"f32 rne\" [R4]");
}

static const std::string residual = R"({
  "bitpact": 1,
  "name": "test",
  "op": "matmul_residual@1",
  "dims": { "tokens": "*", "out": "*", "in": "*" },
  "types": { "x": "bf16", "weight": "bf16", "residual": "bf16", "y": "bf16" },
  "nodes": {
    "dot": {
      "domain": "in", "partition": "k:*", "merge": ["k chain"],
      "start": "identity",
      "precision": { "product": "exact", "accumulator": "f32" }
    }
  },
  "rounding": { "product": "f32 rne", "y": "bf16 rne" },
  "primitives": { "dot.step": "dot.fma.f32" }
})";

TEST_CASE("R: the site of a reduction") {
  auto said = [](const std::string &from, const std::string &to) {
    return readText(with(residual, from, to)).text();
  };
  CHECK(readText(residual).canonical);
  CHECK(readText(with(residual, "\"f32 rne\"", "\"bf16 rne\"")).canonical);
  CHECK_THAT(said("\"product\": \"f32 rne\", ", ""),
             Catch::Contains("rounding site 'product' of operator "
                             "'matmul_residual' is not bound in 'rounding' "
                             "[R1]"));
  CHECK_THAT(said("\"product\": \"f32 rne\"", "\"product\": \"exact\""),
             Catch::Contains("test.json:14:28: site 'product' is exact, but "
                             "its value is the sum of node 'dot', which has "
                             "the accumulator's format; 'f32 rne' takes it as "
                             "it is, and exact is allowed on a multiplication "
                             "[R3]"));
}

TEST_CASE("A: primitives") {
  refuses("\"sum_sq.step\": \"dot.fma.f32\", ", "",
          "primitive site 'sum_sq.step' of operator 'rms_norm' is not bound in "
          "'primitives' [A1]");
  refuses("\"rsqrt\":", "\"sqrt\":", "[A1]");
  refuses("rsqrt.div_sqrt.f32", "rsqrt.magic",
          "test.json:18:58: primitive 'rsqrt.magic' at site 'rsqrt' is "
          "unknown; there are add.f32, add.f64, ");
  refuses("dot.fma.f32", "add.f32",
          "test.json:18:34: site 'sum_sq.step' takes a step of dot, and "
          "'add.f32' is a step of sum [A3]");
  refuses("rsqrt.div_sqrt.f32", "dot.fma.f32",
          "site 'rsqrt' takes a function of 1 argument, and 'dot.fma.f32' is "
          "not one [A3]");
  refuses("dot.fma.f32", "dot.nv(16,25)",
          "step 'dot.nv(16,25)' is an atom, but node 'sum_sq' merges no digit "
          "with fused(dot.nv(16,25)) [A3]");
  refuses("\"pack chain\"", "\"pack fused(dot.nv(16,25))\"",
          "node 'sum_sq' merges digit 'pack' with the atom 'dot.nv(16,25)', "
          "but its step is 'dot.fma.f32' [A3]");
  refuses("\"x\": \"bf16\"", "\"x\": \"f64\"",
          "primitive 'dot.fma.f32' at site 'sum_sq.step' takes 'f32' as "
          "argument 0, and 'f64' does not widen to it exactly [A3]");
}

TEST_CASE("every error of a contract is reported in one run") {
  Outcome outcome = readText(with(
      with(good, "\"x\": \"bf16\"", "\"x\": \"f8\""), "f32 rne", "f32 up"));
  CHECK(outcome.messages.size() == 2);
}
