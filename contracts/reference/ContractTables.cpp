// ContractTables.cpp - what a contract says about dims, tensors and sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/ContractTables.h"

#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bitpact::reference {

using algebra::RuleError;
using nlohmann::json;

namespace {

template <class Facts>
int find(const std::vector<Facts> &all, const std::string &name) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name)
      return static_cast<int>(i);
  return -1;
}

} // namespace

Format formatAt(const json &text, const std::string &where, bool integers) {
  std::optional<Format> format = algebra::parseFormat(text.get<std::string>());
  if (!format || (!integers && !algebra::isFloat(*format)))
    throw RuleError("P1",
                    fmt::format("unknown format '{}'; formats are {}",
                                text.get<std::string>(),
                                algebra::floatFormatNames()),
                    where);
  return *format;
}

ContractTables::ContractTables(const json &contract, OperatorProgram &program)
    : contract(contract), program(program) {
  if (contract.at("bitpact") != 1)
    throw RuleError("C5", "bitpact must be 1", "bitpact");
  readDims();
  readTensors();
}

void ContractTables::readDims() {
  for (const json &name : contract.at("op").at("dims"))
    program.dims.push_back({name.get<std::string>(), std::nullopt});
  for (DimFacts &facts : program.dims) {
    std::string where = "dims." + facts.name;
    if (!contract.at("dims").contains(facts.name))
      throw RuleError("D1", "the dim is not bound", where);
    const json &bound = contract.at("dims").at(facts.name);
    if (bound == "*")
      continue;
    if (!bound.is_number_integer())
      throw RuleError("D1", "a dim is a positive integer or \"*\"", where);
    facts.extent = bound.get<int64_t>();
    if (*facts.extent <= 0)
      throw RuleError(
          "D3",
          fmt::format("the extent is {}, it must be positive", *facts.extent),
          where);
  }
}

Format ContractTables::tensorFormat(const std::string &name) const {
  std::string where = "types." + name;
  if (!contract.at("types").contains(name))
    throw RuleError("C6", "the tensor has no type", where);
  return formatAt(contract.at("types").at(name), where, true);
}

void ContractTables::readTensors() {
  for (const json &tensor : contract.at("op").at("tensors")) {
    TensorFacts facts;
    facts.name = tensor.at("name").get<std::string>();
    std::string kind = tensor.at("kind").get<std::string>();
    if (kind != "in" && kind != "out" && kind != "index")
      throw RuleError(
          "C4", fmt::format("a tensor is in, out or index, not '{}'", kind),
          "op.tensors." + facts.name);
    if (find(program.tensors, facts.name) >= 0)
      throw RuleError("C3", "two tensors have this name",
                      "op.tensors." + facts.name);
    facts.isInput = kind != "out";
    facts.isIndex = kind == "index";
    facts.format = tensorFormat(facts.name);
    if (!facts.isInput && !algebra::isFloat(facts.format))
      throw RuleError("P1", "an output has a float format",
                      "types." + facts.name);
    if (facts.isIndex && algebra::isFloat(facts.format))
      throw RuleError("P1", "an index is i32 or i64", "types." + facts.name);
    for (const json &name : tensor.at("dims")) {
      int number = dim(name.get<std::string>());
      if (std::count(facts.dims.begin(), facts.dims.end(), number))
        throw RuleError("C4", "a dim occurs twice", "op.tensors." + facts.name);
      facts.dims.push_back(number);
    }
    program.tensors.push_back(std::move(facts));
  }
}

int ContractTables::dim(const std::string &name) const {
  int number = find(program.dims, name);
  if (number < 0)
    throw RuleError("C4", fmt::format("the operator has no dim '{}'", name),
                    "op.dims");
  return number;
}

int ContractTables::inputTensor(const std::string &name) const {
  int number = find(program.tensors, name);
  if (number < 0 || !program.tensors[number].isInput)
    throw RuleError("C4", fmt::format("there is no input '{}'", name),
                    "op.tensors");
  if (!algebra::isFloat(program.tensors[number].format))
    throw RuleError("P1",
                    "the operator computes with it, so it has a float "
                    "format",
                    "types." + name);
  return number;
}

int ContractTables::indexTensor(const std::string &name) const {
  int number = find(program.tensors, name);
  if (number < 0 || !program.tensors[number].isIndex)
    throw RuleError("C4", fmt::format("there is no index '{}'", name),
                    "op.tensors");
  return number;
}

int ContractTables::boundsTensor(const std::string &name) const {
  int number = find(program.tensors, name);
  if (number < 0 || !program.tensors[number].isInput ||
      program.tensors[number].isIndex)
    throw RuleError("C4", fmt::format("there is no input '{}'", name),
                    "op.tensors");
  if (program.tensors[number].format != Format::I32)
    throw RuleError("P1", "offsets of a segment are i32", "types." + name);
  if (program.tensors[number].dims.size() != 1)
    throw RuleError("F11", "offsets of a segment have one dim",
                    "op.tensors." + name);
  return number;
}

const TensorFacts &ContractTables::outputTensor(const std::string &name) const {
  int number = find(program.tensors, name);
  if (number < 0 || program.tensors[number].isInput)
    throw RuleError("C4", fmt::format("there is no output '{}'", name),
                    "op.tensors");
  return program.tensors[number];
}

std::pair<Format, double> ContractTables::param(const std::string &name) const {
  std::string where = "params." + name;
  if (!contract.at("params").contains(name))
    throw RuleError("C6", "the parameter is not bound", where);
  const json &param = contract.at("params").at(name);
  Format format = formatAt(param.at("format"), where, false);
  std::string text = param.at("bits").get<std::string>();
  uint64_t bits = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  int width = algebra::bits(format);
  if (error != std::errc() || end != text.data() + text.size() ||
      (width < 64 && bits >> width != 0))
    throw RuleError(
        "C4",
        fmt::format("'{}' are no bits of a {}", text, algebra::name(format)),
        where);
  return {format, decode(format, bits)};
}

int ContractTables::primitiveAt(const std::string &site, PrimitiveKind kind) {
  std::string where = "primitives." + site;
  usedPrimitiveSites.insert(site);
  if (!contract.at("primitives").contains(site))
    throw RuleError("A1", "the site is not bound", where);
  std::string name = contract.at("primitives").at(site).get<std::string>();
  auto found = primitiveNumbers.find(name);
  if (found == primitiveNumbers.end()) {
    const json &definitions = contract.at("definitions");
    if (!definitions.contains(name)) {
      std::string known;
      for (const auto &[each, definition] : definitions.items())
        known += (known.empty() ? "" : " ") + each;
      throw RuleError(
          "A2",
          fmt::format("there is no primitive '{}'; there are: {}", name, known),
          where);
    }
    found = primitiveNumbers
                .emplace(name, static_cast<int>(program.primitives.size()))
                .first;
    program.primitives.emplace_back(definitions.at(name),
                                    "definitions." + name);
  }
  if (program.primitives[found->second].kind != kind)
    throw RuleError("A3",
                    fmt::format("'{}' is not a {}", name,
                                kind == PrimitiveKind::Function ? "function"
                                : kind == PrimitiveKind::Step
                                    ? "step"
                                    : "matrix unit's atom"),
                    where);
  return found->second;
}

const json &ContractTables::rounding(const std::string &site) {
  usedSites.insert(site);
  if (!contract.at("rounding").contains(site))
    throw RuleError("R1", "the site is not bound", "rounding." + site);
  return contract.at("rounding").at(site);
}

bool ContractTables::isExact(const std::string &site) {
  return rounding(site) == "exact";
}

Format ContractTables::siteFormat(const std::string &site) {
  const json &bound = rounding(site);
  std::string where = "rounding." + site;
  if (bound == "exact")
    throw RuleError("R3",
                    "exact is for a multiplication whose consumers add "
                    "or subtract",
                    where);
  if (bound.at("mode") != "rne")
    throw RuleError(
        "R4",
        fmt::format("the mode is {}, there is: rne", bound.at("mode").dump()),
        where);
  return formatAt(bound.at("format"), where, false);
}

void ContractTables::checkAllUsed() const {
  for (const auto &[site, bound] : contract.at("rounding").items())
    if (!usedSites.count(site))
      throw RuleError("R2", "the operator has no such site",
                      "rounding." + site);
  for (const auto &[site, primitive] : contract.at("primitives").items())
    if (!usedPrimitiveSites.count(site))
      throw RuleError("A1", "the operator has no such site",
                      "primitives." + site);
  for (const auto &[name, node] : contract.at("nodes").items())
    if (!usedNodes.count(name))
      throw RuleError("C2", "the operator has no such node", "nodes." + name);
}

} // namespace bitpact::reference
