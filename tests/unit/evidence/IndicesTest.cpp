// IndicesTest.cpp - generated indices: all good, or bad where they should be
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Indices.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace bitpact::evidence;
using bitpact::algebra::Format;
using bitpact::reference::Tensor;

namespace {

/// The logit at a target, of a row that stores 16 elements and has 11.
ContractSpec contract(Format index) {
  ContractSpec spec;
  spec.text = R"({
    "op": {"body": [
      {"id": "v0", "op": "input", "tensor": "x"},
      {"id": "v1", "op": "index", "tensor": "target"},
      {"id": "v2", "op": "take", "over": "vocab", "args": ["v0", "v1"]},
      {"id": "v3", "op": "reduce", "node": "max", "kind": "max",
       "over": "vocab", "args": ["v0"]}]},
    "nodes": {"max": {"domain": {"vocab": {"extent": 11, "stored": 16}}}}})";
  spec.dimOrder = {"tokens", "vocab"};
  spec.dims = {{"tokens", -1}, {"vocab", 16}};
  TensorSpec x, target;
  x.name = "x";
  x.dims = {"tokens", "vocab"};
  target.name = "target";
  target.index = true;
  target.format = index;
  target.dims = {"tokens"};
  spec.tensors = {x, target};
  return spec;
}

std::vector<int64_t> valuesOf(const Tensor &tensor) {
  std::vector<int64_t> values;
  for (size_t at = 0; at < tensor.bytes.size();
       at += bitpact::algebra::bytes(tensor.format)) {
    int32_t narrow;
    int64_t wide;
    std::memcpy(&narrow, &tensor.bytes[at], 4);
    if (tensor.format == Format::I64)
      std::memcpy(&wide, &tensor.bytes[at], 8);
    values.push_back(tensor.format == Format::I64 ? wide : narrow);
  }
  return values;
}

} // namespace

TEST_CASE("indices name what exists; those of Special also what does not") {
  for (Format format : {Format::I32, Format::I64}) {
    ContractSpec spec = contract(format);
    Indices inputs(spec);
    const TensorSpec &target = spec.tensors[1];
    Dims dims{{"tokens", 400}, {"vocab", 16}};
    for (Recipe recipe : allRecipes()) {
      Tensor made = inputs.generate(recipe, 3, target, dims, false);
      REQUIRE(made.bytes.size() == 400 * (format == Format::I32 ? 4 : 8));
      std::map<int64_t, int> seen;
      int bad = 0;
      for (int64_t value : valuesOf(made)) {
        ++seen[value];
        bad += value < 0 || value >= 11;
      }
      CHECK(bad == (recipe == Recipe::Special ? 100 : 0));
      CHECK(inputs.anyBad(target, made.bytes, dims) == (bad > 0));
      for (int64_t value = 0; value < 11; ++value)
        CHECK(seen[value] > 0);
      // What is stored and does not exist is bad as well.
      CHECK((seen[11] > 0) == (recipe == Recipe::Special));
      CHECK((seen[-1] > 0) == (recipe == Recipe::Special));

      Tensor fewer = inputs.generate(recipe, 3, target,
                                     {{"tokens", 2}, {"vocab", 16}}, false);
      CHECK(std::equal(fewer.bytes.begin(), fewer.bytes.end(),
                       made.bytes.begin()));
      CHECK_FALSE(inputs.anyBad(target, fewer.bytes, dims));
      CHECK(valuesOf(fewer) == std::vector<int64_t>{10, 0});
    }
  }
}

TEST_CASE("offsets ascend; every other list of Special does not") {
  ContractSpec spec;
  spec.text = R"({"op": {"body": []}, "nodes": {"sum": {"domain": "tokens",
      "offsets": "cuts"}}})";
  spec.dimOrder = {"tokens", "boundaries"};
  spec.dims = {{"tokens", -1}, {"boundaries", -1}};
  TensorSpec cuts;
  cuts.name = "cuts";
  cuts.format = Format::I32;
  cuts.dims = {"boundaries"};
  spec.tensors = {cuts};
  Indices inputs(spec);
  int bad = 0, lists = 0;
  for (Recipe recipe : allRecipes())
    for (int64_t tokens : {1, 2, 70, 71, 4096})
      for (int64_t boundaries : {2, 3, 4, 9}) {
        Dims dims{{"tokens", tokens}, {"boundaries", boundaries}};
        Tensor made = inputs.generate(recipe, 3, cuts, dims, true);
        std::vector<int64_t> values = valuesOf(made);
        REQUIRE(int64_t(values.size()) == boundaries);
        bool ascends = values.front() == 0 && values.back() == tokens;
        for (size_t i = 1; i < values.size(); ++i)
          ascends &= values[i - 1] <= values[i];
        CHECK(ascends != inputs.anyBad(cuts, made.bytes, dims));
        CHECK((ascends || recipe == Recipe::Special));
        lists += recipe == Recipe::Special;
        bad += !ascends;
      }
  CHECK(bad == lists / 2);
}

TEST_CASE("elements that are stored and do not exist are NaN") {
  ContractSpec spec = contract(Format::I32);
  Tensor x = Indices(spec).generate(Recipe::Normal, 1, spec.tensors[0],
                                   {{"tokens", 3}, {"vocab", 16}}, false);
  REQUIRE(x.bytes.size() == 3 * 16 * 4);
  for (int i = 0; i < 3 * 16; ++i) {
    float value;
    std::memcpy(&value, &x.bytes[i * 4], 4);
    CHECK(std::isnan(value) == (i % 16 >= 11));
  }
}
