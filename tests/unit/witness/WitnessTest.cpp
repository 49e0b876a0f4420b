// WitnessTest.cpp - a witness of every kind of change, and none without one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Witness.h"
#include "tests/unit/reference/States.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace bitpact;
using namespace bitpact::tests;
using diff::Witness;
using diff::WitnessSearch;
using nlohmann::json;

namespace {

/// What is found holds: both contracts, evaluated anew, give these bytes.
Witness witnessOf(const json &a, const json &b) {
  WitnessSearch search = diff::findWitness(a, b);
  REQUIRE(search.found);
  Witness witness = *search.found;
  auto inA = reference::Evaluator(a).run(witness.inputsA);
  auto inB = reference::Evaluator(b).run(witness.inputsB);
  auto element = diff::firstDifference(inA.at(witness.output.name),
                                       inB.at(witness.output.name));
  REQUIRE(element);
  CHECK(element->coordinate == witness.output.element.coordinate);
  CHECK(element->a.bits == witness.output.element.a.bits);
  CHECK(element->b.bits == witness.output.element.b.bits);
  return witness;
}

NodeText node(const std::string &partition, std::vector<std::string> merge,
              const std::string &start = "identity") {
  NodeText text;
  text.partition = partition;
  text.merge = std::move(merge);
  text.start = start;
  return text;
}

} // namespace

TEST_CASE("a chain and pairs part at four elements") {
  // (x0 + x1) + x2 in both; with four, (x0 + x1) + (x2 + x3) is another tree.
  json chain = reduceContract("sum", node("k:*", {"k chain"}, "first"));
  json pairs = reduceContract("sum", node("k:*", {"k pairwise"}, "first"));
  Witness witness = witnessOf(chain, pairs);
  CHECK(witness.extents.at("hidden") == 4);
  CHECK(witness.extents.at("rows") == 1);
  CHECK(witness.kind == "tree");
  CHECK(witness.first.name == "total");
  CHECK(bitsOf(witness.inputsA.at("x")).size() == 4);
}

TEST_CASE("rows of segments part with their own weights alone") {
  auto grouped = [](const std::string &merge, const json &experts) {
    json c = groupedContract(node("k:*", {merge}, "first"));
    c["dims"]["e"] = experts;
    return c;
  };
  for (const json experts : {json("*"), json(1), json(5)}) {
    Witness witness =
        witnessOf(grouped("k chain", experts), grouped("k pairwise", experts));
    CHECK(witness.extents.at("k") == 4);
    CHECK(witness.extents.at("m") == 1);
    CHECK(witness.first.name == "total");
    // The row lies in a block that has an expert.
    std::vector<uint64_t> offsets = bitsOf(witness.inputsA.at("offsets"));
    CHECK((offsets.front() == 0 && offsets.back() == 1));
  }
}

TEST_CASE("starts part on -0 alone") {
  json identity = reduceContract("sum", node("k:*", {"k chain"}, "identity"));
  json first = reduceContract("sum", node("k:*", {"k chain"}, "first"));
  Witness witness = witnessOf(identity, first);
  // +0 + -0 is +0; -0 alone stays.
  CHECK(witness.output.element.a.bits == 0);
  CHECK(witness.output.element.b.bits == 0x80000000);
  CHECK(bitsOf(witness.inputsA.at("x")) == std::vector<uint64_t>{0x80000000});
}

TEST_CASE("a partition into other blocks is found at its first ragged one") {
  auto lanes = [](int count) {
    std::string text = std::to_string(count);
    return reduceContract(
        "sum", node("s:* lane:" + text, {"s chain", "lane fold"}, "first"));
  };
  // Up to three elements both are a fold of single ones.
  CHECK(witnessOf(lanes(2), lanes(3)).extents.at("hidden") == 3);
  CHECK(witnessOf(lanes(32), lanes(64)).extents.at("hidden") > 32);
}

TEST_CASE("formats of partials and of accumulators") {
  json plain = reduceContract("sum", node("s:* k:4", {"k chain", "s fold"}));
  json rounded =
      reduceContract("sum", node("s:* k:4", {"k chain", "s fold in bf16"}));
  CHECK(witnessOf(plain, rounded).first.name == "total");
  NodeText wide = node("s:* k:4", {"k chain", "s fold"});
  wide.accumulator = "f64";
  wide.output = "f32";
  CHECK(witnessOf(plain, reduceContract("sum", wide)).first.name == "total");
}

TEST_CASE("types: the input is rounded to either") {
  NodeText narrow = node("k:*", {"k chain"});
  NodeText wide = narrow;
  narrow.input = "bf16";
  Witness witness =
      witnessOf(reduceContract("sum", narrow), reduceContract("sum", wide));
  // No value of bf16 tells them apart: sums are the same.
  CHECK(witness.first.name == "x");
  CHECK(witness.inputsA.at("x").format == Format::BF16);
  CHECK(witness.inputsB.at("x").format == Format::F32);
}

TEST_CASE("outputs of other types are compared as values") {
  NodeText narrow = node("k:*", {"k chain"});
  narrow.output = "bf16";
  Witness witness = witnessOf(reduceContract("sum", node("k:*", {"k chain"})),
                              reduceContract("sum", narrow));
  CHECK(witness.output.element.a.value != witness.output.element.b.value);
}

TEST_CASE("rounding sites: rounded before the weight, rounded twice") {
  json once = rmsNormContract(node("k:*", {"k chain"}), "bf16");
  json before = once;
  before["rounding"]["normed"]["format"] = "bf16";
  Witness witness = witnessOf(once, before);
  CHECK(witness.first.name == "normed");
  CHECK(witness.extents.at("hidden") <= 2);
  // f64 rounds the product of x and r no more, and y once instead of twice.
  json exact = once;
  exact["rounding"]["normed"]["format"] = "f64";
  witness = witnessOf(once, exact);
  CHECK(witness.first.name == "y");
  json mean = once;
  mean["rounding"]["mean_sq"]["format"] = "bf16";
  CHECK(witnessOf(once, mean).first.name == "mean_sq");
}

TEST_CASE("a tree of squares, seen through a norm and bf16") {
  json chain = rmsNormContract(node("k:*", {"k chain"}), "bf16");
  json lanes =
      rmsNormContract(node("s:* lane:4", {"s chain", "lane halving"}), "bf16");
  Witness witness = witnessOf(chain, lanes);
  CHECK(witness.first.name == "sum_sq");
  chain["dims"]["hidden"] = lanes["dims"]["hidden"] = 64;
  CHECK(witnessOf(chain, lanes).first.name == "sum_sq");
}

TEST_CASE("an exact product and a rounded one") {
  NodeText exact = node("k:*", {"k chain"}), rounded = exact;
  exact.step = "dot.fma.f32";
  rounded.step = "dot.mul_add.f32";
  CHECK(witnessOf(dotContract(exact), dotContract(rounded)).first.name ==
        "total");
  // Products of bf16 have 16 bits and are exact in f32, but beyond its largest
  // value and below its smallest one.
  exact.input = rounded.input = "bf16";
  Witness witness = witnessOf(dotContract(exact), dotContract(rounded));
  double magnitude = std::abs(witness.output.element.a.value);
  CHECK((magnitude < 0x1p-100 || !(magnitude < 0x1p100)));
}

TEST_CASE("atoms of another width and of another precision") {
  auto atom = [](const std::string &name, const std::string &digit) {
    NodeText text =
        node("s:* k:" + digit, {"k fused(" + name + ")", "s chain"});
    text.input = "bf16";
    text.step = name + ".bf16";
    json contract = dotContract(text);
    return contract;
  };
  CHECK(witnessOf(atom("dot.nv(16,25)", "16"), atom("dot.nv(8,25)", "8"))
            .first.name == "total");
  CHECK(witnessOf(atom("dot.nv(16,25)", "16"), atom("dot.nv(16,24)", "16"))
            .first.name == "total");
}

TEST_CASE("states: carry, merge, weight, combine") {
  StateText text;
  text.partition = "s:* k:4";
  text.merge = {"k chain", "s carry"};
  json carry = stateContract(text);
  StateText pass = text;
  pass.state = "two_pass";
  pass.merge = {"k chain", "s chain"};
  CHECK(witnessOf(carry, stateContract(pass)).first.name == "sum");
  StateText merge = text;
  merge.merge = {"k chain", "s fold merge"};
  CHECK(witnessOf(carry, stateContract(merge)).first.name == "sum");
  StateText fused = merge;
  fused.combine = "combine.fma.f32";
  CHECK(witnessOf(stateContract(merge), stateContract(fused)).first.name ==
        "sum");
  StateText bell = text;
  bell.weight = "bell.f32";
  CHECK(witnessOf(carry, stateContract(bell)).first.name == "sum");
}

TEST_CASE("domains: what one has more counts") {
  StateText text;
  text.merge = {"k carry"};
  text.extent = 6;
  text.stored = 8;
  json six = stateContract(text);
  text.extent = 8;
  Witness witness = witnessOf(six, stateContract(text));
  CHECK(witness.extents.at("vocab") == 8);
  // Poison in the padding of both changes nothing, and is no witness.
  text.extent = 6;
  text.stored = 9;
  json wider = stateContract(text);
  CHECK_FALSE(diff::findWitness(six, wider).found);
}

TEST_CASE("an index that one contract has not") {
  StateText text;
  text.merge = {"k carry"};
  text.extent = 6;
  text.stored = 8;
  json six = takeContract(text, "i32");
  text.extent = 7;
  CHECK(witnessOf(six, takeContract(text, "i32")).output.name != "");
}

TEST_CASE("what is equal has no witness") {
  json sum = reduceContract("sum", node("s:* k:4", {"k chain", "s chain"}));
  // One chain over both digits is the chain over all elements.
  json chain = reduceContract("sum", node("k:*", {"k chain"}));
  WitnessSearch search = diff::findWitness(sum, chain);
  CHECK_FALSE(search.found);
  CHECK(search.total() > 1000);
  CHECK(search.tried.size() >= 8);
  // Maxima are exact: no tree of them matters.
  json max = reduceContract("max", node("k:*", {"k chain"}));
  json halves =
      reduceContract("max", node("s:* k:4", {"s chain", "k halving"}));
  CHECK_FALSE(diff::findWitness(max, halves).found);
  // The search itself is not blind: the same digits over sums differ.
  CHECK(diff::findWitness(
            chain,
            reduceContract("sum", node("s:* k:4", {"s chain", "k halving"})))
            .found);
}

TEST_CASE("the same seed finds the same witness") {
  json a = rmsNormContract(node("k:*", {"k chain"}), "bf16");
  json b = a;
  b["rounding"]["normed"]["format"] = "bf16";
  diff::WitnessOptions options;
  options.seed = 7;
  auto one = diff::findWitness(a, b, options),
       two = diff::findWitness(a, b, options);
  REQUIRE(one.found);
  REQUIRE(two.found);
  CHECK(one.seed == 7);
  CHECK(one.found->inputsA == two.found->inputsA);
  CHECK(one.total() == two.total());
}

TEST_CASE("contracts of different operators have no common input") {
  CHECK_THROWS_AS(
      diff::findWitness(reduceContract("sum", node("k:*", {"k chain"})),
                        dotContract(node("k:*", {"k chain"}))),
      std::invalid_argument);
}
