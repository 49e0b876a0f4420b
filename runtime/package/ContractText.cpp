// ContractText.cpp - a manifest against the contracts that it speaks of
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/package/ContractText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace bitpact::package {

using nlohmann::json;

namespace {

// The manifest's word for something, and the contract's.
void same(const std::string &what, const std::string &manifest,
          const std::string &contract) {
  if (manifest != contract)
    throw FormatError(
        fmt::format("{}: manifest.json says {}, the contract says {}", what,
                    manifest, contract));
}

std::string listOf(const std::vector<std::string> &names) {
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string extentOf(int64_t extent) {
  return extent == dynamicExtent ? "*" : std::to_string(extent);
}

void compareTensors(const ContractEntry &entry, const json &contract) {
  const json &tensors = contract.at("op").at("tensors");
  std::vector<std::string> said, wanted;
  for (const ContractTensor &tensor : entry.tensors)
    said.push_back(tensor.name);
  for (const json &tensor : tensors)
    wanted.push_back(tensor.at("name"));
  // Offsets may be a tensor that only the contract knows of.
  std::vector<std::string> offsets;
  for (const json &node : contract.at("nodes"))
    if (node.contains("offsets"))
      offsets.push_back(node.at("offsets"));
  for (size_t i = wanted.size(); i < said.size(); ++i)
    for (const std::string &name : offsets)
      if (wanted.size() == i && name == said[i])
        wanted.push_back(name);
  same("tensors", listOf(said), listOf(wanted));
  for (size_t i = 0; i < said.size(); ++i) {
    const ContractTensor &tensor = entry.tensors[i];
    std::string at = "tensor '" + tensor.name + "'";
    same(at + ", type", name(tensor.type),
         contract.at("types").at(tensor.name).get<std::string>());
    if (i >= tensors.size())
      continue;
    same(at + ", kind", name(tensor.kind),
         tensors[i].at("kind").get<std::string>());
    same(at + ", dims", listOf(tensor.dims),
         listOf(tensors[i].at("dims").get<std::vector<std::string>>()));
  }
}

void compareDims(const ContractEntry &entry, const json &contract,
                 const Manifest &manifest) {
  auto order = contract.at("op").at("dims").get<std::vector<std::string>>();
  std::map<std::string, std::string> said, wanted;
  for (const auto &[dim, extent] : entry.dims)
    said[dim] = extentOf(extent);
  for (const std::string &dim : order) {
    const json &extent = contract.at("dims").at(dim);
    wanted[dim] = extent.is_string() ? "*" : extentOf(extent.get<int64_t>());
  }
  same("dims", fmt::format("{}", said), fmt::format("{}", wanted));
  for (const Variant &variant : manifest.variants) {
    if (variant.contract != entry.digest)
      continue;
    std::vector<std::string> dims;
    bool fault = false;
    for (const Argument &argument : variant.arguments) {
      if (argument.kind == ArgumentKind::Dim)
        dims.push_back(argument.dim);
      fault |= argument.kind == ArgumentKind::Fault;
    }
    std::string at = "arguments of variant '" + variant.id + "'";
    same(at + ", dims", listOf(dims), listOf(order));
    auto word = [](bool has) { return has ? "a fault word" : "no fault word"; };
    same(at, word(fault), word(canFault(contract)));
  }
}

} // namespace

bool canFault(const json &contract) {
  for (const json &op : contract.at("op").at("body"))
    if (op.at("op") == "take")
      return true;
  for (const json &node : contract.at("nodes"))
    if (node.contains("offsets"))
      return true;
  return false;
}

void verifyContract(const Manifest &manifest, const ContractEntry &entry,
                    const std::string &text) {
  try {
    json contract = json::parse(text);
    const json &op = contract.at("op");
    same("name", entry.name, contract.at("name").get<std::string>());
    same("op", entry.op,
         op.at("name").get<std::string>() + "@" +
             std::to_string(op.at("version").get<int64_t>()));
    compareTensors(entry, contract);
    compareDims(entry, contract, manifest);
  } catch (const json::exception &error) {
    throw FormatError(
        fmt::format("{}: is not a contract: {}", entry.file, error.what()));
  } catch (const FormatError &error) {
    throw FormatError(fmt::format("{}: {}", entry.file, error.what()));
  }
}

} // namespace bitpact::package
