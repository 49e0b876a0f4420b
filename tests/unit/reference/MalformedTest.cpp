// MalformedTest.cpp - wrong contracts and inputs are refused by name
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/algebra/ExpectRule.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace bitpact::tests;
using bitpact::algebra::Format;
using bitpact::algebra::RuleError;
using bitpact::reference::Evaluator;
using nlohmann::json;

static json contract() {
  NodeText node;
  node.partition = "sweep:* lane:4 pack:2";
  node.merge = {"pack chain", "sweep chain", "lane halving"};
  return rmsNormContract(node, "bf16");
}

static Evaluator::Tensors inputs() {
  return {{"x", tensorOf(Format::BF16, {2, 8}, std::vector<double>(16, 1))},
          {"weight", tensorOf(Format::BF16, {8}, std::vector<double>(8, 1))}};
}

static void refuses(const std::string &rule, const std::string &text,
                    const std::function<void(json &)> &change) {
  json c = contract();
  change(c);
  expectRule(rule, text, [&] { Evaluator evaluator(c); });
}

TEST_CASE("contracts that break a rule") {
  refuses("C5", "bitpact must be 1", [](json &c) { c["bitpact"] = 2; });
  refuses("C4", "key 'op' not found", [](json &c) { c.erase("op"); });
  refuses("D1", "dims.hidden: the dim is not bound",
          [](json &c) { c["dims"].erase("hidden"); });
  refuses("D1", "dims.hidden: a dim is a positive integer or \"*\"",
          [](json &c) { c["dims"]["hidden"] = "many"; });
  refuses("D3", "dims.hidden: the extent is 0",
          [](json &c) { c["dims"]["hidden"] = 0; });
  refuses("D2", "nodes.sum_sq.domain: the domain is \"tokens\"",
          [](json &c) { c["nodes"]["sum_sq"]["domain"] = "tokens"; });
  refuses("P1", "types.x: unknown format 'fp8'",
          [](json &c) { c["types"]["x"] = "fp8"; });
  refuses("P1", "types.x: the operator computes with it",
          [](json &c) { c["types"]["x"] = "i32"; });
  refuses("C6", "types.weight: the tensor has no type",
          [](json &c) { c["types"].erase("weight"); });
  refuses("C6", "params.eps: the parameter is not bound",
          [](json &c) { c["params"].erase("eps"); });
  refuses("C4", "params.eps: '1e-6' are no bits of a f32",
          [](json &c) { c["params"]["eps"]["bits"] = "1e-6"; });
  refuses("PI2", "nodes.sum_sq.partition: two digits are named 'lane'",
          [](json &c) { c["nodes"]["sum_sq"]["partition"] = "lane:4 lane:2"; });
  refuses("PI5", "nodes.sum_sq.partition: the digits 'lane:4 pack:2' cover 8",
          [](json &c) {
            c["dims"]["hidden"] = 9;
            c["nodes"]["sum_sq"]["partition"] = "lane:4 pack:2";
          });
  refuses("T1", "nodes.sum_sq.merge: digit 'pack' is never merged",
          [](json &c) { c["nodes"]["sum_sq"]["merge"].erase(0); });
  refuses("T4", "nodes.sum_sq.merge: merge 'lane any'",
          [](json &c) { c["nodes"]["sum_sq"]["merge"][2] = "lane any"; });
  refuses("C4", "nodes.sum_sq.start: a start is identity or first, not 'zero'",
          [](json &c) { c["nodes"]["sum_sq"]["start"] = "zero"; });
  refuses("PI7", "nodes.sum_sq: there are offsets, but no @offsets digit",
          [](json &c) { c["nodes"]["sum_sq"]["offsets"] = "cuts"; });
  refuses("PI7", "an @offsets digit needs the key offsets", [](json &c) {
    c["nodes"]["sum_sq"]["partition"] = "s:@offsets k:*";
    c["nodes"]["sum_sq"]["merge"] = {"k chain", "s fold"};
  });
  refuses("PI7", "nodes.sum_sq.offsets: the offsets 'cuts' are no input",
          [](json &c) {
            c["nodes"]["sum_sq"]["partition"] = "s:@offsets k:*";
            c["nodes"]["sum_sq"]["merge"] = {"k chain", "s fold"};
            c["nodes"]["sum_sq"]["offsets"] = "cuts";
          });
  refuses("P3", "the accumulator is f64, the step's is f32", [](json &c) {
    c["nodes"]["sum_sq"]["precision"]["accumulator"] = "f64";
  });
  refuses("P2", "the product is \"f32\", the step's is 'exact'", [](json &c) {
    c["nodes"]["sum_sq"]["precision"]["product"] = "f32";
  });
  refuses("A1", "primitives.rsqrt: the site is not bound",
          [](json &c) { c["primitives"].erase("rsqrt"); });
  refuses("A1", "primitives.exp: the operator has no such site",
          [](json &c) { c["primitives"]["exp"] = "sum.add.f32"; });
  refuses("A2",
          "primitives.rsqrt: there is no primitive 'rsqrt.fast'; there "
          "are: dot.fma.bf16",
          [](json &c) { c["primitives"]["rsqrt"] = "rsqrt.fast"; });
  refuses("A3", "primitives.rsqrt: 'dot.fma.f32' is not a function",
          [](json &c) { c["primitives"]["rsqrt"] = "dot.fma.f32"; });
  refuses("A3",
          "primitives.sum_sq.step: it is a step of sum, the node is a dot",
          [](json &c) { c["primitives"]["sum_sq.step"] = "sum.add.f32"; });
  refuses(
      "A3", "primitives.sum_sq.step: 'dot.nv(4,25).bf16' is not a step",
      [](json &c) { c["primitives"]["sum_sq.step"] = "dot.nv(4,25).bf16"; });
  refuses("A3", "it is dot.nv(8,25), the merge says dot.nv(4,25)", [](json &c) {
    c["nodes"]["sum_sq"]["partition"] = "s:* k:4";
    c["nodes"]["sum_sq"]["merge"] = {"k fused(dot.nv(4,25))", "s chain"};
    c["primitives"]["sum_sq.step"] = "dot.nv(8,25).bf16";
  });
  refuses("A3",
          "primitives.rsqrt: the primitive takes f16, a value of f32 is "
          "not exact there",
          [](json &c) { c["primitives"]["rsqrt"] = "rsqrt.div_sqrt.f16"; });
  refuses("A3", "the primitive takes bf16, a value of f16 is not exact there",
          [](json &c) {
            c["types"]["x"] = "f16";
            c["nodes"]["sum_sq"]["precision"]["accumulator"] = "bf16";
            c["primitives"]["sum_sq.step"] = "dot.fma.bf16";
          });
  refuses("C2", "nodes.other: the operator has no such node",
          [](json &c) { c["nodes"]["other"] = c["nodes"]["sum_sq"]; });
  refuses("C4", "value 'v77' is not defined before its use",
          [](json &c) { c["op"]["body"][5]["args"][0] = "v77"; });
  refuses("C4", "there is no operation 'pow'",
          [](json &c) { c["op"]["body"][5]["op"] = "pow"; });
  refuses("C4", "div takes 2 operands, it has 1",
          [](json &c) { c["op"]["body"][5]["args"].erase(1); });
  refuses("C3", "two operations are named 'v0'",
          [](json &c) { c["op"]["body"][1]["id"] = "v0"; });
  refuses("C6", "no operation writes 'y'",
          [](json &c) { c["op"]["body"].erase(10); });
}

TEST_CASE("inputs that do not fit") {
  Evaluator evaluator(contract());
  auto refuses = [&](const std::string &message,
                     const std::function<void(Evaluator::Tensors &)> &change) {
    Evaluator::Tensors tensors = inputs();
    change(tensors);
    CHECK_THROWS_AS(evaluator.run(tensors), std::invalid_argument);
    CHECK_THROWS_WITH(evaluator.run(tensors), message);
  };
  refuses("tensor 'weight': the input is missing",
          [](auto &t) { t.erase("weight"); });
  refuses("tensor 'bias': the operator has no such input",
          [](auto &t) { t["bias"] = t.at("weight"); });
  refuses("tensor 'x': its format is f16, the contract says bf16",
          [](auto &t) { t["x"].format = Format::F16; });
  refuses("tensor 'x': it has 1 axes, the operator says 2",
          [](auto &t) { t["x"].shape = {16}; });
  refuses("tensor 'x': it has 32 bytes, its shape [2, 9] needs 36",
          [](auto &t) {
            t["x"].shape = {2, 9};
          });
  refuses("tensor 'x': an axis has 0 elements", [](auto &t) {
    t["x"] = {Format::BF16, {0, 8}, {}};
  });
  refuses("tensor 'weight': its axis 0 ('hidden') has 8 elements, it must have "
          "4",
          [](auto &t) {
            t["x"].shape = {4, 4};
          });
  json bound = contract();
  bound["dims"]["hidden"] = 16;
  CHECK_THROWS_WITH(
      Evaluator(bound).run(inputs()),
      "tensor 'x': its axis 1 ('hidden') has 8 elements, it must have 16");
}

TEST_CASE("an extent that the digits do not cover shows when it is known") {
  json c = contract();
  c["nodes"]["sum_sq"]["partition"] = "lane:2 pack:2";
  c["nodes"]["sum_sq"]["merge"] = {"pack chain", "lane halving"};
  Evaluator evaluator(c);
  expectRule("PI5",
             "nodes.sum_sq.partition: the digits 'lane:2 pack:2' cover 4 "
             "elements, the extent is 8",
             [&] { evaluator.run(inputs()); });
}

/// Replaces the value at each place of `c` by values of other types.
static void forEachDamage(const json &c,
                          const std::function<void(const json &)> &use) {
  std::vector<json::json_pointer> places;
  std::function<void(const json &, const json::json_pointer &)> collect =
      [&](const json &value, const json::json_pointer &at) {
        places.push_back(at);
        if (value.is_object())
          for (const auto &[key, inner] : value.items())
            collect(inner, at / key);
        else if (value.is_array())
          for (size_t i = 0; i < value.size(); ++i)
            collect(value[i], at / i);
      };
  collect(c, json::json_pointer());
  const std::vector<json> damages{
      nullptr, -1, 3.5, "", "*", json::array(), json::object(), "a0", "v0"};
  for (const json::json_pointer &place : places)
    for (const json &damage : damages) {
      json damaged = c;
      damaged[place] = damage;
      use(damaged);
    }
}

TEST_CASE("no damage to a contract does more than be refused") {
  json c = contract();
  // Definitions that no site uses are not read: leave the two that are.
  json used = json::object();
  for (const char *name : {"dot.fma.f32", "rsqrt.div_sqrt.f32"})
    used[name] = c["definitions"][name];
  c["definitions"] = used;
  int refused = 0, accepted = 0;
  forEachDamage(c, [&](const json &damaged) {
    try {
      Evaluator(damaged).run(inputs(), 1);
      ++accepted;
    } catch (const RuleError &) {
      ++refused;
    } catch (const std::invalid_argument &) {
      ++refused;
    }
  });
  CHECK(refused > 1000);
  CHECK(accepted > 0); // names and versions are free
  CHECK(accepted < 200);
}
