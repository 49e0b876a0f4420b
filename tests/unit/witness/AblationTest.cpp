// AblationTest.cpp - steps between contracts, and what they do to results
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Ablation.h"
#include "contracts/algebra/Digest.h"
#include "contracts/diff/AblationSteps.h"
#include "contracts/diff/ContractFile.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;
using diff::AblationStep;
using nlohmann::json;

namespace {

NodeText chainOf(const std::string &partition, std::vector<std::string> merge) {
  NodeText text;
  text.partition = partition;
  text.merge = std::move(merge);
  return text;
}

std::vector<std::string> namesOf(const std::vector<AblationStep> &steps) {
  std::vector<std::string> names;
  for (const AblationStep &step : steps)
    names.push_back(step.name);
  return names;
}

std::vector<AblationStep> steps(const json &a, const json &b) {
  return diff::singleSteps(a, b, diff::compare(a, b));
}

} // namespace

TEST_CASE("every change is a step of its own, in the order of the difference") {
  json a = rmsNormContract(chainOf("k:*", {"k chain"}), "bf16"), b = a;
  b["rounding"]["normed"]["format"] = "bf16";
  b["nodes"]["sum_sq"]["start"] = "first";
  b["rounding"]["mean_sq"]["format"] = "bf16";
  auto single = steps(a, b);
  CHECK(namesOf(single) == std::vector<std::string>{"nodes.sum_sq.start",
                                                    "rounding.mean_sq",
                                                    "rounding.normed"});
  json normed = a;
  normed["rounding"]["normed"]["format"] = "bf16";
  CHECK(single[2].digest == algebra::digest(normed));
  CHECK(single[2].reason.empty());
  auto combined = diff::combinedSteps(a, b, diff::compare(a, b), single);
  CHECK(namesOf(combined) ==
        std::vector<std::string>{"all but nodes.sum_sq.start",
                                 "all but rounding.mean_sq",
                                 "all but rounding.normed"});
  json without = b;
  without["rounding"]["normed"]["format"] = "f32";
  CHECK(combined[2].digest == algebra::digest(without));
}

TEST_CASE("what is no contract alone comes in the smallest set") {
  json a = rmsNormContract(chainOf("k:*", {"k chain"}), "bf16"), b = a;
  b["rounding"]["y"]["format"] = "f32";
  b["types"]["y"] = "f32";
  b["nodes"]["sum_sq"]["start"] = "first";
  auto single = steps(a, b);
  REQUIRE(single.size() == 2);
  CHECK(single[1].name == "types.y+rounding.y");
  CHECK(single[1].reason.find("[P4]") != std::string::npos);
  // Another number of digits: partition and merges belong together.
  json lanes = rmsNormContract(
      chainOf("s:* lane:4", {"s chain", "lane halving"}), "bf16");
  single = steps(a, lanes);
  REQUIRE(single.size() == 1);
  CHECK(single[0].changes.size() == 2);
  CHECK(single[0].digest == algebra::digest(lanes));
  CHECK(single[0].reason.find("[T1]") != std::string::npos);
}

TEST_CASE("forms, digits and formats of a merge are taken apart") {
  json a = reduceContract(
      "sum", chainOf("s:* lane:4", {"s chain", "lane halving in bf16"}));
  json b = reduceContract("sum",
                          chainOf("s:* l:8", {"s chain", "l pairwise in f16"}));
  auto single = steps(a, b);
  REQUIRE(single.size() == 3);
  auto merges = [&](size_t i) {
    const json &node = single[i].canonical.at("nodes").at("total");
    return node.at("partition").get<std::string>() + " | " +
           node.at("merge").at(1).get<std::string>();
  };
  CHECK(merges(0) == "s:* l:8 | l halving in bf16");
  CHECK(merges(1) == "s:* lane:4 | lane pairwise in bf16");
  CHECK(merges(2) == "s:* lane:4 | lane halving in f16");
  CHECK(single[2].name == "nodes.total.merge-formats");
}

TEST_CASE("an atom is the step's and the merge's") {
  auto atom = [](const std::string &name) {
    NodeText text = chainOf("s:* k:8", {"k fused(" + name + ")", "s chain"});
    text.input = "bf16";
    text.step = name + ".bf16";
    json contract = dotContract(text);
    contract["definitions"][name] = contract["definitions"][name + ".bf16"];
    contract["primitives"]["total.step"] = name;
    return contract;
  };
  json a = atom("dot.nv(8,25)"), b = atom("dot.nv(16,24)");
  auto single = steps(a, b);
  REQUIRE(single.size() == 1);
  CHECK(single[0].digest == algebra::digest(b));
}

TEST_CASE("results: where first, how many, how far, and who reaches B") {
  json a = rmsNormContract(chainOf("k:*", {"k chain"}), "bf16", "00000000");
  json b = a;
  b["rounding"]["normed"]["format"] = "bf16";
  b["nodes"]["sum_sq"]["start"] = "first"; // of squares: the same bits
  // mean_sq is 1, r is 1: normed is x, of bf16, whatever is rounded.
  reference::Evaluator::Tensors plain{
      {"x", tensorOf(Format::BF16, {1, 2}, {1, -1})},
      {"weight", tensorOf(Format::BF16, {2}, {1, 1})}};
  diff::Ablation same(a, b, plain);
  CHECK(same.run(b).differing() == 0);
  CHECK_FALSE(same.run(b).first);
  // mean_sq = 1/2, r = sqrt(2) in f32 = 1.41421354; to bf16 1.4140625. Times
  // 1.0078125 (1 + 2^-7) they are 1.42526… and 1.42510…: in bf16, of which ulps
  // are 2^-7 there, both are 1.421875. Times 1.1015625: 1.55784… and 1.55768…,
  // both 1.5546875; times 1.3828125 1.95559… and 1.95538…, the tie 1.95703…
  // below either. So 1.109375: 1.56889… and 1.56872…; the tie between 1.5625
  // and 1.5703125 is 1.56640625. The evaluator is asked instead for all
  // weights.
  std::vector<double> weights;
  for (int i = 0; i < 128; ++i)
    weights.push_back(1 + i / 128.);
  std::vector<double> row(128, 0);
  row[0] = 8; // 64 / 128: the mean of squares is 1/2
  std::vector<double> ones(128, 1);
  for (int i = 1; i < 128; ++i)
    row[i] = 0x1p-40 * (1 + i / 128.);
  reference::Evaluator::Tensors input{
      {"x", tensorOf(Format::BF16, {1, 128}, row)},
      {"weight", tensorOf(Format::BF16, {128}, weights)}};
  auto inA = reference::Evaluator(a).run(input).at("y");
  auto inB = reference::Evaluator(b).run(input).at("y");
  int64_t expected = 0, first = -1;
  for (int64_t i = 0; i < 128; ++i)
    if (bitsOf(inA)[i] != bitsOf(inB)[i]) {
      first = first < 0 ? i : first;
      ++expected;
    }
  REQUIRE(expected > 0); // else this test shows nothing
  diff::Ablation ablation(a, b, input);
  auto single = steps(a, b);
  REQUIRE(single.size() == 2);
  auto start = ablation.run(single[0].canonical);
  CHECK(start.differing() == 0);
  CHECK_FALSE(start.reachesGoal);
  auto rounding = ablation.run(single[1].canonical);
  CHECK(rounding.reachesGoal);
  CHECK(rounding.elements() == 128);
  CHECK(rounding.differing() == expected);
  CHECK(rounding.first->name == "normed");
  CHECK(rounding.outputs.at("y").first->coordinate ==
        std::vector<int64_t>{0, first});
  CHECK(rounding.histogram().equal == 128 - expected);
  // bf16 against f32 rounded later: neighbours, never further.
  CHECK(rounding.histogram().largest == 1);
}

TEST_CASE("tensors that do not fit are named") {
  json a = rmsNormContract(chainOf("k:*", {"k chain"}), "bf16");
  reference::Evaluator::Tensors inputs{
      {"x", tensorOf(Format::BF16, {1, 2}, {1, -1})}};
  CHECK_THROWS_WITH(diff::Ablation(a, a, inputs),
                    Catch::Contains("'weight'") && Catch::Contains("missing"));
  inputs["weight"] = tensorOf(Format::BF16, {3}, {1, 1, 1});
  CHECK_THROWS_WITH(diff::Ablation(a, a, inputs), Catch::Contains("'hidden'"));
  inputs["weight"] = tensorOf(Format::F32, {2}, {1, 1});
  CHECK_THROWS_WITH(diff::Ablation(a, a, inputs), Catch::Contains("format"));
}

TEST_CASE("a contract file says what its canonical form says") {
  json canonical = rmsNormContract(
      chainOf("s:* lane:4", {"s chain", "lane halving in bf16"}), "bf16");
  json file = diff::contractFile(canonical);
  CHECK(file.at("op") == "rms_norm@1");
  CHECK(file.at("rounding").at("normed") == "f32 rne");
  // 358637bd is the f32 nearest to 1e-6.
  CHECK(file.at("params").at("eps") == "1e-06 f32");
  CHECK(file.at("nodes") == canonical.at("nodes"));
  CHECK_FALSE(file.contains("definitions"));
}

TEST_CASE("a merge patch turns one value into another") {
  json from = {
      {"a", 1}, {"b", {{"c", "x"}, {"d", json::array({1, 2})}}}, {"e", "z"}};
  json to = {{"a", 1}, {"b", {{"d", json::array({2})}}}, {"e", {{"f", 1}}}};
  json patch = diff::mergePatch(from, to);
  CHECK(patch == json{{"b", {{"c", nullptr}, {"d", {2}}}}, {"e", {{"f", 1}}}});
  json applied = from;
  applied.merge_patch(patch); // the library's own
  CHECK(applied == to);
}
