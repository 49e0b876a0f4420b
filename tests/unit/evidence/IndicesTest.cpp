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

namespace {

/// Rows of blocks between offsets, each with the weights of its block.
ContractSpec groupedContract() {
  ContractSpec spec;
  spec.text = R"({
    "op": {"body": [
      {"id": "v0", "op": "input", "tensor": "x"},
      {"id": "v1", "op": "input", "tensor": "weight"},
      {"id": "v2", "op": "input", "tensor": "offsets"},
      {"id": "v3", "op": "segment", "over": "tokens", "args": ["v2"]},
      {"id": "v4", "op": "take", "over": "experts", "args": ["v1", "v3"]},
      {"id": "v5", "op": "reduce", "node": "dot", "kind": "dot",
       "over": "in", "args": ["v0", "v4"]}]},
    "nodes": {"dot": {"domain": "in"}}})";
  spec.dimOrder = {"tokens", "experts", "boundaries", "out", "in"};
  for (const std::string &dim : spec.dimOrder)
    spec.dims[dim] = -1;
  auto add = [&](const char *name, Format format,
                 std::vector<std::string> dims) {
    TensorSpec tensor;
    tensor.name = name;
    tensor.format = format;
    tensor.dims = std::move(dims);
    spec.tensors.push_back(tensor);
  };
  add("x", Format::F32, {"tokens", "in"});
  add("weight", Format::F32, {"experts", "out", "in"});
  add("offsets", Format::I32, {"boundaries"});
  add("y", Format::F32, {"tokens", "out"});
  spec.tensors.back().output = true;
  return spec;
}

std::vector<uint8_t> bytesOf(const std::vector<int32_t> &offsets) {
  std::vector<uint8_t> bytes(4 * offsets.size());
  std::memcpy(bytes.data(), offsets.data(), bytes.size());
  return bytes;
}

} // namespace

TEST_CASE("offsets of segments are bad where they cut no blocks of rows") {
  ContractSpec spec = groupedContract();
  Indices inputs(spec);
  const TensorSpec &offsets = spec.tensors[2];
  CHECK(cutBy(spec, offsets) == "tokens");
  CHECK(cutBy(spec, spec.tensors[1]).empty());
  auto bad = [&](const std::vector<int32_t> &list, int64_t experts) {
    return inputs.anyBad(offsets, bytesOf(list),
                         {{"tokens", 5}, {"experts", experts}});
  };
  CHECK_FALSE(bad({0, 2, 2, 5}, 3));
  CHECK_FALSE(bad({0, 5}, 3)); // fewer blocks than experts
  CHECK(bad({0, 2, 2, 4}, 3));
  CHECK(bad({0, 3, 2, 5}, 3));
  CHECK(bad({1, 2, 2, 5}, 3));
  CHECK(bad({5}, 3));
  // A block without an expert, with rows and without.
  CHECK(bad({0, 2, 2, 5}, 2));
  CHECK_FALSE(bad({0, 2, 5, 5}, 2));
  CHECK_FALSE(bad({0, 5, 5, 5}, 1));
  CHECK(bad({0, 0, 5, 5}, 1));
}

TEST_CASE("of what is taken at blocks those count that hold something") {
  ContractSpec spec = groupedContract();
  Indices inputs(spec);
  Dims dims{{"tokens", 5}, {"experts", 3}, {"out", 2}, {"in", 4}};
  auto read = [&](const std::vector<int32_t> &list, size_t tensor) {
    std::map<std::string, Tensor> given;
    given["offsets"] = {Format::I32, {}, bytesOf(list)};
    return inputs.positionsRead(spec.tensors[tensor], given, dims);
  };
  CHECK(read({0, 2, 2, 5}, 1) == 2);
  CHECK(read({0, 0, 0, 5}, 1) == 1);
  CHECK(read({0, 1, 2, 5}, 1) == 3);
  CHECK(read({0, 1, 2, 5}, 0) == 5); // x has its tokens
}

TEST_CASE("a row alone keeps its block") {
  ContractSpec spec = groupedContract();
  Indices inputs(spec);
  auto alone = [&](const std::vector<int32_t> &list, int64_t row) {
    Tensor tensor{Format::I32, {}, {}};
    tensor.bytes = inputs.ofRow(spec.tensors[2], bytesOf(list),
                                {{"tokens", 5}, {"experts", 3}}, row);
    return valuesOf(tensor);
  };
  using List = std::vector<int64_t>;
  CHECK(alone({0, 2, 2, 5}, 0) == List{0, 1, 1, 1});
  CHECK(alone({0, 2, 2, 5}, 1) == List{0, 1, 1, 1});
  CHECK(alone({0, 2, 2, 5}, 2) == List{0, 0, 0, 1});
  CHECK(alone({0, 0, 5, 5}, 4) == List{0, 0, 1, 1});
  // Bad offsets stay bad: the last is no 1.
  CHECK(alone({0, 3, 2, 5}, 1) == List{0, 3, 2, 5});
}

TEST_CASE("rows between offsets are no prefix of more rows") {
  ContractSpec spec = groupedContract();
  RowShape shape(spec);
  CHECK(shape.isRow("tokens"));
  CHECK(shape.rowsAreOutermost());
  CHECK_FALSE(shape.rowsArePrefix());
  CHECK(shape.cutsRows(spec.tensors[2]));
  CHECK_FALSE(shape.cutsRows(spec.tensors[1]));
  // Experts are no columns: few of them, whatever columns there are.
  for (const Dims &dims : shape.openExtents({}))
    CHECK((dims.at("experts") <= 7 && dims.at("boundaries") <= 7));
  RowShape plain(contract(Format::I32));
  CHECK(plain.rowsArePrefix());
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
