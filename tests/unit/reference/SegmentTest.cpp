// SegmentTest.cpp - products with the weights of the block a row lies in
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/algebra/ExpectRule.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace bitpact::tests;
using bitpact::algebra::Format;
using bitpact::reference::Evaluator;
using nlohmann::json;

namespace {

Tensor offsetsOf(const std::vector<int64_t> &offsets) {
  return tensorOfBits(Format::I32, {static_cast<int64_t>(offsets.size())},
                      {offsets.begin(), offsets.end()});
}

const double none = std::nan("");

/// Values of three rows (1, 10), (2, 20), (3, 30) with weights of three experts
/// of one column, (1, 0), (0, 1), (1, 1).
std::vector<double> rowsUnder(const std::vector<int64_t> &offsets) {
  Evaluator evaluator(groupedContract(NodeText{}));
  return valuesOf(
      evaluator
          .run({{"a", tensorOf(Format::F32, {3, 2}, {1, 10, 2, 20, 3, 30})},
                {"b", tensorOf(Format::F32, {3, 1, 2}, {1, 0, 0, 1, 1, 1})},
                {"offsets", offsetsOf(offsets)}})
          .at("y"));
}

void same(const std::vector<double> &values,
          const std::vector<double> &expected) {
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    INFO(i << ": " << values[i] << ", not " << expected[i]);
    CHECK((values[i] == expected[i] ||
           (std::isnan(values[i]) && std::isnan(expected[i]))));
  }
}

} // namespace

TEST_CASE("every row meets the weights of its block") {
  same(rowsUnder({0, 1, 2, 3}), {1, 20, 33});
  same(rowsUnder({0, 2, 2, 3}), {1, 2, 33}); // the second is empty
  same(rowsUnder({0, 0, 1, 3}), {10, 22, 33});
  same(rowsUnder({0, 0, 0, 3}), {11, 22, 33});
  same(rowsUnder({0, 3, 3, 3}), {1, 2, 3});
  same(rowsUnder({0, 0, 3, 3}), {10, 20, 30});
}

TEST_CASE("fewer and more blocks than there are experts") {
  same(rowsUnder({0, 3}), {1, 2, 3});
  same(rowsUnder({0, 1, 3}), {1, 20, 30});
  // The fourth block has no expert; where it is empty nobody misses one.
  same(rowsUnder({0, 1, 1, 2, 3}), {1, 22, none});
  same(rowsUnder({0, 1, 2, 3, 3, 3}), {1, 20, 33});
}

TEST_CASE("offsets that cut no blocks leave no row an expert") {
  const std::vector<std::vector<int64_t>> cuts{
      {0, 2, 1, 3},  {1, 1, 2, 3},  {0, 1, 2, 2}, {0, 1, 2, 4},
      {0, -1, 2, 3}, {-1, 1, 2, 3}, {3},          {0}};
  for (const std::vector<int64_t> &bad : cuts)
    same(rowsUnder(bad), {none, none, none});
}

TEST_CASE("a row hears of no other block's values") {
  // NaN and infinities in the second expert and in the second row.
  Evaluator evaluator(groupedContract(NodeText{}));
  auto y = evaluator.run(
      {{"a", tensorOf(Format::F32, {3, 2}, {1, 10, none, INFINITY, 3, 30})},
       {"b", tensorOf(Format::F32, {3, 1, 2}, {1, 0, none, -INFINITY, 1, 1})},
       {"offsets", offsetsOf({0, 1, 2, 3})}});
  same(valuesOf(y.at("y")), {1, none, 33});
  CHECK(bitsOf(y.at("y"))[1] == 0x7fc00000);
}

TEST_CASE("a row has the bytes that it has alone with its expert") {
  std::mt19937 random(7);
  NodeText tree;
  tree.partition = "s:* k:4";
  tree.merge = {"k chain", "s pairwise"};
  Evaluator together(groupedContract(tree)), alone(dotContract(tree));
  const int64_t rows = 11, experts = 5, columns = 3, depth = 18;
  for (int trial = 0; trial < 20; ++trial) {
    Tensor a = randomTensor({rows, depth}, random);
    Tensor b = randomTensor({experts, columns, depth}, random);
    std::vector<int64_t> offsets{0, rows};
    for (int64_t e = 1; e < experts; ++e)
      offsets.push_back(random() % (rows + 1));
    std::sort(offsets.begin(), offsets.end());
    auto y =
        bitsOf(together
                   .run({{"a", a}, {"b", b}, {"offsets", offsetsOf(offsets)}},
                        1 + trial % 3)
                   .at("y"));
    std::vector<uint64_t> as = bitsOf(a), bs = bitsOf(b);
    for (int64_t e = 0; e < experts; ++e)
      for (int64_t row = offsets[e]; row < offsets[e + 1]; ++row) {
        auto own = bitsOf(
            alone
                .run({{"a", tensorOfBits(Format::F32, {1, depth},
                                         {as.begin() + row * depth,
                                          as.begin() + (row + 1) * depth})},
                      {"b",
                       tensorOfBits(Format::F32, {columns, depth},
                                    {bs.begin() + e * columns * depth,
                                     bs.begin() + (e + 1) * columns * depth})}})
                .at("y"));
        CHECK(std::vector<uint64_t>(y.begin() + row * columns,
                                    y.begin() + (row + 1) * columns) == own);
      }
  }
}

TEST_CASE("a segment may lie along a reduced dim") {
  // y[m] = sum over n of w[block of n] * a[m, n], offsets along n.
  json c = json::parse(R"({"bitpact":1,"name":"n","op":{"name":"weighted",
    "version":1,"dims":["m","e","bounds","n"],"params":[],
    "tensors":[{"name":"a","kind":"in","dims":["m","n"]},
               {"name":"w","kind":"in","dims":["e"]},
               {"name":"offsets","kind":"in","dims":["bounds"]},
               {"name":"y","kind":"out","dims":["m"]}],
    "body":[{"id":"v0","op":"input","tensor":"a"},
            {"id":"v1","op":"input","tensor":"w"},
            {"id":"v2","op":"input","tensor":"offsets"},
            {"id":"v3","op":"segment","over":"n","args":["v2"]},
            {"id":"v4","op":"take","over":"e","args":["v1","v3"]},
            {"id":"v5","op":"reduce","node":"total","kind":"dot","over":"n",
             "args":["v0","v4"]},
            {"op":"output","tensor":"y","site":"y","args":["v5"]}]},
    "dims":{"m":"*","e":"*","bounds":"*","n":"*"},"params":{}})");
  json dot = dotContract(NodeText{});
  for (const char *key : {"definitions", "nodes", "rounding", "primitives"})
    c[key] = dot[key];
  c["nodes"]["total"]["domain"] = "n";
  c["types"] = {{"a", "f32"}, {"w", "f32"}, {"offsets", "i32"}, {"y", "f32"}};
  auto y = Evaluator(c).run(
      {{"a", tensorOf(Format::F32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {"w", tensorOf(Format::F32, {2}, {10, 100})},
       {"offsets", offsetsOf({0, 1, 4})}});
  same(valuesOf(y.at("y")), {10 + 900, 50 + 2100});
}

TEST_CASE("canonical contracts of segments that are none are refused") {
  const json good = groupedContract(NodeText{});
  Evaluator accepted(good);
  auto refuses = [&](const std::string &rule, const std::string &text,
                     const std::string &pointer, json value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = std::move(value);
    expectRule(rule, text, [&] { Evaluator evaluator(changed); });
  };
  refuses("P1", "offsets of a segment are i32", "/types/offsets", "f32");
  refuses("P1", "offsets of a segment are i32", "/types/offsets", "i64");
  refuses("F11", "offsets of a segment have one dim", "/op/tensors/3/dims",
          {"bounds", "n"});
  refuses("F11", "a segment over 'bounds' has offsets along it",
          "/op/body/3/over", "bounds");
  refuses("P1", "types.a: offsets of a segment are i32", "/op/body/3/args",
          {"v0"});
  json computed = good;
  computed["op"]["body"][2] = {
      {"id", "v2"}, {"op", "constant"}, {"value", "1"}};
  expectRule("F11", "a segment is of 'v2', which are no offsets",
             [&] { Evaluator evaluator(computed); });
  refuses("F11", "'v2' are offsets of segments", "/op/body/5/args",
          {"v0", "v2"});
  refuses("F11", "'v3' is an index", "/op/body/5/args", {"v0", "v3"});
  refuses("F11", "a take over 'm' is of a value", "/op/body/4/over", "m");
  refuses("C4", "there is no input 'offset'", "/op/body/2/tensor", "offset");
}
