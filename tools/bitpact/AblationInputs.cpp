// AblationInputs.cpp - the tensors on which steps between contracts are
// compared Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/AblationInputs.h"

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/DimOptions.h"
#include "tools/evidence/Indices.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

/// What generated data needs to know, from canonical JSON.
ContractSpec specOf(const SourcedContract &contract) {
  ContractSpec spec;
  spec.digest = contract.digest;
  spec.name = contract.name;
  spec.op = operatorOf(contract);
  spec.text = contract.canonical.dump();
  for (const json &dim : contract.canonical.at("op").at("dims")) {
    spec.dimOrder.push_back(dim.get<std::string>());
    const json &extent = contract.canonical.at("dims").at(spec.dimOrder.back());
    spec.dims[spec.dimOrder.back()] =
        extent.is_string() ? -1 : extent.get<int64_t>();
  }
  for (const json &tensor : contract.canonical.at("op").at("tensors")) {
    TensorSpec one;
    one.name = tensor.at("name").get<std::string>();
    std::string kind = tensor.at("kind").get<std::string>();
    one.output = kind == "out";
    one.index = kind == "index";
    one.type = contract.canonical.at("types").at(one.name).get<std::string>();
    one.format = algebra::parseFormat(one.type).value();
    for (const json &dim : tensor.at("dims"))
      one.dims.push_back(dim.get<std::string>());
    spec.tensors.push_back(std::move(one));
  }
  // Offsets that only the contract knows of.
  for (const json &node : contract.canonical.at("nodes")) {
    std::string name = node.value("offsets", "");
    bool known = name.empty();
    for (const TensorSpec &one : spec.tensors)
      known |= one.name == name;
    if (!known)
      throw UserError(contract.path,
                      fmt::format("'{}' has no dim of the operator; give it "
                                  "with --input",
                                  name));
  }
  return spec;
}

} // namespace

void AblationInputs::addTo(CLI::App &command) {
  addRepeated(&command, "--input", files,
              "NAME=FILE.npy, NAME=FILE.npy:bf16 or "
              "NAME=FILE.safetensors:TENSOR; else they are generated");
  command
      .add_option("--data", recipe,
                  "Kind of generated data: normal dense wide subnormal special "
                  "zeros constant cancellation")
      ->capture_default_str();
  command.add_option("--rows", rows, "Rows of generated data")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->capture_default_str();
  addRepeated(&command, "--dim", dims,
              "Extent of an open dim of generated data: hidden=4096");
  command.add_option("--seed", seed, "The seed of generated data")
      ->capture_default_str();
}

std::string AblationInputs::describe() const {
  return files.empty() ? fmt::format("{}, seed {}, {} rows", recipe, seed, rows)
                       : fmt::format("{}", fmt::join(files, " "));
}

reference::Evaluator::Tensors
AblationInputs::tensors(const SourcedContract &contract) const {
  reference::Evaluator::Tensors result;
  if (!files.empty()) {
    std::vector<std::string> names, missing;
    for (const json &tensor : contract.canonical.at("op").at("tensors"))
      if (tensor.at("kind") != "out")
        names.push_back(tensor.at("name").get<std::string>());
    for (const json &node : contract.canonical.at("nodes"))
      if (std::string name = node.value("offsets", "");
          !name.empty() &&
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    for (const std::string &option : files) {
      size_t equals = option.find('=');
      if (equals == option.npos || equals == 0)
        throw UserError(
            fmt::format("--input '{}' is not of the form NAME=FILE", option));
      std::string name = option.substr(0, equals);
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw UserError(fmt::format("--input '{}': {} has no input '{}'; it "
                                    "has {}",
                                    option, operatorOf(contract), name,
                                    fmt::join(names, ", ")));
      Tensor tensor = readTensor(parseTensorPath(option.substr(equals + 1)));
      if (!result.emplace(name, std::move(tensor)).second)
        throw UserError(fmt::format("input '{}' is given twice", name));
    }
    for (const std::string &name : names)
      if (!result.count(name))
        missing.push_back(fmt::format("--input {}=FILE", name));
    if (!missing.empty())
      throw UserError(fmt::format("missing: {}", fmt::join(missing, ", ")));
    return result;
  }
  ContractSpec spec = specOf(contract);
  std::map<std::string, std::vector<int64_t>> given = parseExtents(dims);
  RowShape::requireOpen({&spec}, given);
  RowShape shape(spec);
  std::map<std::string, std::vector<int64_t>> extents = given;
  for (const auto &[dim, extent] : spec.dims)
    if (extent < 0 && shape.isReduced(dim) && !extents.count(dim))
      extents[dim] = {1024};
  for (const auto &[dim, list] : extents)
    if (list.size() != 1)
      throw UserError(fmt::format("--dim '{}': give one extent", dim));
  Dims all = shape.withRows(shape.openExtents(extents).front(), rows);
  Indices indices(spec);
  for (const TensorSpec &tensor : spec.tensors)
    if (!tensor.output)
      result.emplace(tensor.name,
                     indices.generate(parseRecipe(recipe), seed, tensor, all,
                                      !shape.hasRows(tensor)));
  return result;
}

} // namespace bitpact::tool
