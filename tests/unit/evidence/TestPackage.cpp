// TestPackage.cpp - packages of hand-written kernels and hand-written contracts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/evidence/TestPackage.h"

#include "contracts/algebra/CanonicalJson.h"
#include "contracts/algebra/Digest.h"
#include "runtime/package/ContractText.h"
#include "runtime/package/Writer.h"

#include <fstream>
#include <sstream>

using nlohmann::json;

namespace bitpact::tests {
namespace {

std::string contentsOf(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

} // namespace

json sumContract(int64_t hidden, const std::string &name) {
  json contract = json::parse(R"({
    "bitpact": 1, "doc": "",
    "op": {"name": "sum", "version": 1, "dims": ["tokens", "hidden"],
      "params": [],
      "tensors": [
        {"name": "x", "kind": "in", "dims": ["tokens", "hidden"]},
        {"name": "y", "kind": "out", "dims": ["tokens"]}],
      "body": [
        {"id": "v0", "op": "input", "tensor": "x"},
        {"id": "v1", "op": "reduce", "node": "sum", "kind": "sum",
         "over": "hidden", "args": ["v0"]},
        {"op": "output", "tensor": "y", "site": "y", "args": ["v1"]}]},
    "types": {"x": "f32", "y": "f32"}, "params": {},
    "nodes": {"sum": {"domain": "hidden", "partition": "block:* lane:8",
      "merge": ["block chain", "lane halving"], "start": "identity",
      "precision": {"accumulator": "f32"}}},
    "rounding": {"y": {"format": "f32", "mode": "rne"}},
    "primitives": {"sum.step": "add.f32"},
    "definitions": {"add.f32": {"kind": "step", "reduction": "sum",
      "args": ["f32", "f32"], "result": "f32",
      "body": [{"id": "v0", "op": "add", "type": "f32",
                "args": ["a1", "a0"]}], "yield": "v0"}}
  })");
  contract["name"] = name;
  contract["dims"] = {{"tokens", "*"}, {"hidden", hidden}};
  return contract;
}

json normContract(int64_t hidden, const std::string &normed) {
  json contract = json::parse(R"({
    "bitpact": 1, "name": "test/rms_norm", "doc": "",
    "op": {"name": "rms_norm", "version": 1, "dims": ["tokens", "hidden"],
      "params": ["eps"],
      "tensors": [
        {"name": "x", "kind": "in", "dims": ["tokens", "hidden"]},
        {"name": "weight", "kind": "in", "dims": ["hidden"]},
        {"name": "y", "kind": "out", "dims": ["tokens", "hidden"]}],
      "body": [
        {"id": "v0", "op": "input", "tensor": "x"},
        {"id": "v1", "op": "input", "tensor": "weight"},
        {"id": "v2", "op": "param", "param": "eps"},
        {"id": "v3", "op": "reduce", "node": "sum_sq", "kind": "dot",
         "over": "hidden", "args": ["v0", "v0"]},
        {"id": "v4", "op": "extent", "dim": "hidden"},
        {"id": "v5", "op": "div", "args": ["v3", "v4"], "site": "mean_sq"},
        {"id": "v6", "op": "add", "args": ["v5", "v2"]},
        {"id": "v7", "op": "apply", "site": "rsqrt", "args": ["v6"]},
        {"id": "v8", "op": "mul", "args": ["v0", "v7"], "site": "normed"},
        {"id": "v9", "op": "mul", "args": ["v8", "v1"]},
        {"op": "output", "tensor": "y", "site": "y", "args": ["v9"]}]},
    "types": {"x": "f32", "weight": "f32", "y": "f32"},
    "params": {"eps": {"format": "f32", "bits": "358637bd"}},
    "nodes": {"sum_sq": {"domain": "hidden", "partition": "all:*",
      "merge": ["all chain"], "start": "identity",
      "precision": {"product": "f32", "accumulator": "f32"}}},
    "rounding": {"mean_sq": {"format": "f32", "mode": "rne"},
      "y": {"format": "f32", "mode": "rne"}},
    "primitives": {"sum_sq.step": "dot.mul_add.f32",
      "rsqrt": "rsqrt.div_sqrt.f32"},
    "definitions": {
      "dot.mul_add.f32": {"kind": "step", "reduction": "dot",
        "product": "f32", "args": ["f32", "f32", "f32"], "result": "f32",
        "body": [
          {"id": "v0", "op": "mul", "type": "f32", "args": ["a0", "a1"]},
          {"id": "v1", "op": "add", "type": "f32", "args": ["a2", "v0"]}],
        "yield": "v1"},
      "rsqrt.div_sqrt.f32": {"kind": "function", "args": ["f32"],
        "result": "f32",
        "body": [
          {"id": "v0", "op": "constant", "type": "f32", "bits": "3f800000"},
          {"id": "v1", "op": "sqrt", "type": "f32", "args": ["a0"]},
          {"id": "v2", "op": "div", "type": "f32", "args": ["v0", "v1"]}],
        "yield": "v2"}}
  })");
  contract["dims"] = {{"tokens", "*"}, {"hidden", hidden}};
  contract["rounding"]["normed"] = {{"format", normed}, {"mode", "rne"}};
  return contract;
}

json productContract(int64_t out, int64_t hidden) {
  json contract = normContract(hidden);
  contract["name"] = "test/product";
  contract["op"] = json::parse(R"({
    "name": "product", "version": 1, "dims": ["tokens", "out", "hidden"],
    "params": [],
    "tensors": [
      {"name": "x", "kind": "in", "dims": ["tokens", "hidden"]},
      {"name": "weight", "kind": "in", "dims": ["out", "hidden"]},
      {"name": "y", "kind": "out", "dims": ["tokens", "out"]}],
    "body": [
      {"id": "v0", "op": "input", "tensor": "x"},
      {"id": "v1", "op": "input", "tensor": "weight"},
      {"id": "v2", "op": "reduce", "node": "dot", "kind": "dot",
       "over": "hidden", "args": ["v0", "v1"]},
      {"op": "output", "tensor": "y", "site": "y", "args": ["v2"]}]
  })");
  contract["params"] = json::object();
  contract["nodes"] = {{"dot", contract["nodes"]["sum_sq"]}};
  contract["rounding"] = {{"y", {{"format", "f32"}, {"mode", "rne"}}}};
  contract["primitives"] = {{"dot.step", "dot.mul_add.f32"}};
  contract["definitions"].erase("rsqrt.div_sqrt.f32");
  contract["dims"]["out"] = out < 0 ? json("*") : json(out);
  return contract;
}

json groupedContract(int64_t hidden) {
  json contract = productContract(-1, hidden);
  contract["name"] = "test/grouped";
  contract["op"] = json::parse(R"({
    "name": "grouped", "version": 1,
    "dims": ["tokens", "experts", "boundaries", "out", "hidden"],
    "params": [],
    "tensors": [
      {"name": "x", "kind": "in", "dims": ["tokens", "hidden"]},
      {"name": "weight", "kind": "in", "dims": ["experts", "out", "hidden"]},
      {"name": "offsets", "kind": "in", "dims": ["boundaries"]},
      {"name": "y", "kind": "out", "dims": ["tokens", "out"]}],
    "body": [
      {"id": "v0", "op": "input", "tensor": "x"},
      {"id": "v1", "op": "input", "tensor": "weight"},
      {"id": "v2", "op": "input", "tensor": "offsets"},
      {"id": "v3", "op": "segment", "over": "tokens", "args": ["v2"]},
      {"id": "v4", "op": "take", "over": "experts", "args": ["v1", "v3"]},
      {"id": "v5", "op": "reduce", "node": "dot", "kind": "dot",
       "over": "hidden", "args": ["v0", "v4"]},
      {"op": "output", "tensor": "y", "site": "y", "args": ["v5"]}]
  })");
  contract["types"]["offsets"] = "i32";
  contract["dims"]["experts"] = contract["dims"]["boundaries"] = "*";
  if (hidden < 0)
    contract["dims"]["hidden"] = "*";
  return contract;
}

void writeTestPackage(const std::string &directory,
                      const std::vector<json> &contracts,
                      const std::vector<std::string> &entries, int64_t alignX) {
  package::Manifest manifest;
  package::Files files;
  manifest.producer["bitpact"] = "test";
  const std::string code = contentsOf(BITPACT_TEST_KERNELS);
  for (const json &contract : contracts) {
    package::ContractEntry entry;
    entry.digest = algebra::digest(contract);
    entry.name = contract["name"];
    entry.op = contract["op"]["name"].get<std::string>() + "@1";
    entry.file = "contracts/" + entry.digest + ".json";
    files[entry.file] = algebra::canonicalText(contract);
    entry.sha256 = package::sha256Hex(files[entry.file]);
    for (const json &tensor : contract["op"]["tensors"]) {
      bool output = tensor["kind"] == "out";
      entry.tensors.push_back(
          {tensor["name"],
           output ? package::TensorKind::Out : package::TensorKind::In,
           tensor["dims"],
           contract["types"][tensor["name"].get<std::string>()] == "i32"
               ? package::ElementType::I32
               : package::ElementType::F32});
    }
    std::vector<std::string> dims;
    for (const json &dim : contract["op"]["dims"]) {
      dims.push_back(dim);
      const json &extent = contract["dims"][dims.back()];
      entry.dims[dims.back()] = extent.is_string() ? package::dynamicExtent
                                                   : extent.get<int64_t>();
    }
    for (const std::string &name : entries) {
      package::Variant variant;
      variant.id = name + "-" + entry.digest.substr(0, 8);
      variant.contract = entry.digest;
      variant.target = {package::TargetKind::Cpu, "x86-64-v3", ""};
      variant.roles = {"train", "rollout"};
      variant.priority = static_cast<int64_t>(manifest.variants.size());
      variant.entry = name;
      variant.schedule = "by hand";
      variant.code.file = "code/" + variant.id + ".so";
      files[variant.code.file] = code;
      variant.arguments =
          package::argumentList(entry.tensors, dims, /*workspace=*/false,
                                package::canFault(contract));
      if (alignX && &name == &entries.front())
        variant.when.align["x"] = alignX;
      for (const package::ContractTensor &tensor : entry.tensors)
        variant.tensors.push_back(
            {tensor.name, tensor.kind == package::TensorKind::Out, {}});
      variant.launch.parallelDims = {"tokens"};
      manifest.variants.push_back(variant);
    }
    manifest.contracts.push_back(entry);
  }
  package::writePackage(directory, manifest, files);
}

} // namespace bitpact::tests
