// ContractSource.cpp - contracts from whatever holds them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/ContractSource.h"

#include "contracts/algebra/Digest.h"
#include "contracts/algebra/RuleError.h"
#include "contracts/reference/Evaluator.h"
#include "tools/bitpact/Compiler.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Runtime.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;
using bitpact::evidence::UserError;
using nlohmann::json;

namespace bitpact::tool {
namespace {

/// Reads a text that need not be valid, so that the compiler, which names line
/// and column, sees what this does not understand.
std::string contentsOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream)
    throw UserError(path, "cannot read the file");
  return text.str();
}

/// The JSON values of a text, one after another; lines that begin with // are
/// comments. Empty for a text that is none.
std::vector<json> valuesOf(const std::string &text) {
  std::istringstream lines(text);
  std::ostringstream without;
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, 2, "//") != 0)
      without << line << '\n';
  std::istringstream stream(without.str());
  std::vector<json> values;
  try {
    while (stream >> std::ws && !stream.eof())
      stream >> values.emplace_back();
  } catch (const json::exception &) {
    return {};
  }
  return values;
}

bool isCanonical(const json &value) {
  return value.is_object() && value.contains("definitions");
}

SourcedContract sourced(const std::string &path, json canonical) {
  try {
    reference::Evaluator whole(canonical); // every rule that canonical JSON has
    return {path, canonical.value("name", ""), algebra::digest(canonical),
            std::move(canonical)};
  } catch (const algebra::RuleError &error) {
    throw UserError(path, error.what());
  } catch (const json::exception &error) {
    throw UserError(path,
                    fmt::format("no canonical contract: {}", error.what()));
  }
}

/// Contracts in canonical JSON, or nothing where the text is something else.
std::vector<SourcedContract> canonicalContracts(const std::string &path,
                                                const std::string &text) {
  std::vector<SourcedContract> contracts;
  for (json &value : valuesOf(text)) {
    // What `check --expand --json` prints.
    bool listed = value.is_object() && value.contains("contracts") &&
                  value.at("contracts").is_array();
    if (listed)
      for (json &one : value.at("contracts"))
        if (one.is_object() && isCanonical(one.value("canonical", json())))
          contracts.push_back(sourced(path, one.at("canonical")));
    if (isCanonical(value))
      contracts.push_back(sourced(path, std::move(value)));
  }
  return contracts;
}

std::vector<SourcedContract> packageContracts(const std::string &path) {
  if (!fs::exists(fs::path(path) / "manifest.json"))
    throw UserError(path, "the directory is no package: it has no "
                          "manifest.json");
  std::vector<SourcedContract> contracts;
  evidence::Package package(path);
  for (const evidence::ContractSpec &one : package.contracts())
    contracts.push_back({path, one.name, one.digest, json::parse(one.text)});
  if (contracts.empty())
    throw UserError(path, "the package has no contract");
  return contracts;
}

std::vector<SourcedContract>
expandedContracts(const std::vector<std::string> &paths) {
  json response = Compiler().run({{"command", "expand"}, {"contracts", paths}},
                                 [](const std::string &, int64_t, int64_t) {});
  std::vector<SourcedContract> contracts;
  for (const json &one : response.at("contracts")) {
    json canonical = one.at("canonical");
    if (canonical.is_string())
      canonical = json::parse(canonical.get<std::string>());
    contracts.push_back({one.value("path", ""), canonical.value("name", ""),
                         one.at("digest").get<std::string>(),
                         std::move(canonical)});
  }
  return contracts;
}

} // namespace

std::string operatorOf(const SourcedContract &contract) {
  const json &op = contract.canonical.at("op");
  return fmt::format("{}@{}", op.at("name").get<std::string>(),
                     op.at("version").dump());
}

std::vector<SourcedContract> readContracts(const std::string &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw UserError(path, "no such contract file, package or model set");
  if (fs::is_directory(path, error))
    return packageContracts(path);
  if (auto contracts = canonicalContracts(path, contentsOf(path));
      !contracts.empty())
    return contracts;
  return expandedContracts({path});
}

SourcedContract readContract(const std::string &path,
                             const std::string &selector) {
  std::vector<SourcedContract> all = readContracts(path), chosen;
  std::string known;
  for (SourcedContract &one : all) {
    std::string op = operatorOf(one);
    known +=
        fmt::format("\n  {} ({}) {}", one.name, op, shortDigest(one.digest));
    if (selector.empty() || one.name == selector || op == selector ||
        op.substr(0, op.find('@')) == selector ||
        one.digest.starts_with(selector))
      chosen.push_back(std::move(one));
  }
  if (chosen.size() == 1)
    return std::move(chosen.front());
  if (chosen.empty())
    throw UserError(path, fmt::format("there is no contract '{}'; there are:{}",
                                      selector, known));
  throw UserError(
      path, selector.empty()
                ? fmt::format("there are {} contracts here, one is needed; "
                              "there are:{}",
                              chosen.size(), known)
                : fmt::format("{} contracts are called '{}'; there are:{}",
                              chosen.size(), selector, known));
}

} // namespace bitpact::tool
