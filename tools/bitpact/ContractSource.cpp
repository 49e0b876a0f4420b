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
#include <map>
#include <set>
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

Compiler compilerFor(const std::string &path) {
  try {
    return Compiler();
  } catch (const UserError &error) {
    throw UserError(path, fmt::format("{}; canonical JSON, as bitpact check "
                                      "--expand prints it, can be read too",
                                      error.what()));
  }
}

std::vector<SourcedContract>
expandedContracts(const std::vector<std::string> &paths) {
  json response = compilerFor(paths.front())
                      .run({{"command", "expand"}, {"contracts", paths}},
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

/// A model set's rule as an error at its place.
UserError userError(const algebra::RuleError &error) {
  return {error.where(), fmt::format("{} [{}]", error.message(), error.rule())};
}

/// Each file once: several sites may have one contract.
std::map<std::string, SourcedContract> filesOf(const diff::ModelSet &model) {
  std::map<std::string, SourcedContract> files;
  std::vector<std::string> toExpand;
  std::map<std::string, std::string> written; // path to what the set says
  for (const diff::ModelSite &site : model.sites) {
    std::string path =
        (fs::path(model.path).parent_path() / site.file).string();
    std::error_code error;
    auto wrong = [&](const std::string &reason) {
      throw userError({"M2", fmt::format("'{}' {}", site.file, reason),
                       model.placeOf(site.file)});
    };
    if (!fs::is_regular_file(path, error))
      wrong("is no file beside the set");
    if (!written.emplace(path, site.file).second)
      continue;
    std::string text = contentsOf(path);
    if (diff::ModelSet::looksLike(json::parse(text, nullptr, false, true)))
      wrong("is a model set itself; a set lists contracts");
    std::vector<SourcedContract> canonical = canonicalContracts(path, text);
    if (canonical.size() > 1)
      wrong(
          fmt::format("holds {} contracts; a site has one", canonical.size()));
    if (canonical.empty())
      toExpand.push_back(path);
    else
      files.emplace(path, std::move(canonical.front()));
  }
  if (!toExpand.empty())
    for (SourcedContract &one : expandedContracts(toExpand))
      files.emplace(one.path, std::move(one));
  std::map<std::string, std::string> digests;
  for (const auto &[path, one] : files)
    if (auto [known, isNew] = digests.emplace(one.name, one.digest);
        !isNew && known->second != one.digest)
      throw userError(
          {"M2",
           fmt::format("two different contracts are named '{}'", one.name),
           model.placeOf(written.at(path))});
  return files;
}

ContractSet modelContracts(const std::string &path, const std::string &text) {
  try {
    ContractSet set;
    set.model = diff::ModelSet::parse(text, path);
    std::map<std::string, SourcedContract> files = filesOf(*set.model);
    std::map<std::string, json> bySite;
    for (const diff::ModelSite &site : set.model->sites) {
      SourcedContract one =
          files.at((fs::path(path).parent_path() / site.file).string());
      one.site = site.name;
      bySite[site.name] = one.canonical;
      set.contracts.push_back(std::move(one));
    }
    set.model->check(bySite);
    return set;
  } catch (const algebra::RuleError &error) {
    throw userError(error);
  }
}

ContractSet contractsAt(const std::string &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw UserError(path, "no such contract file, package or model set");
  if (fs::is_directory(path, error))
    return {packageContracts(path)};
  std::string text = contentsOf(path);
  if (auto contracts = canonicalContracts(path, text); !contracts.empty())
    return {contracts};
  // A set that is no JSON goes to the compiler, which says where it is not.
  json value = json::parse(text, nullptr, false, true);
  if (diff::ModelSet::looksLike(value))
    return modelContracts(path, text);
  return {expandedContracts({path})};
}

} // namespace

std::string operatorOf(const SourcedContract &contract) {
  const json &op = contract.canonical.at("op");
  return fmt::format("{}@{}", op.at("name").get<std::string>(),
                     op.at("version").dump());
}

bool isCalled(const SourcedContract &contract, const std::string &selector) {
  std::string op = operatorOf(contract);
  return contract.name == selector || op == selector ||
         op.substr(0, op.find('@')) == selector ||
         contract.digest.starts_with(selector);
}

ContractSet readSet(const std::string &path) {
  ContractSet set = contractsAt(path);
  set.path = path;
  return set;
}

std::vector<SourcedContract> readContracts(const std::string &path) {
  std::vector<SourcedContract> contracts;
  std::set<std::string> names;
  ContractSet set = readSet(path);
  for (SourcedContract &one : set.contracts)
    if (!set.model || names.insert(one.name).second) {
      one.site.clear();
      contracts.push_back(std::move(one));
    }
  return contracts;
}

SourcedContract readContract(const std::string &path,
                             const std::string &selector) {
  std::vector<SourcedContract> all = readContracts(path), chosen;
  std::string known;
  for (SourcedContract &one : all) {
    std::string op = operatorOf(one);
    known +=
        fmt::format("\n  {} ({}) {}", one.name, op, shortDigest(one.digest));
    if (selector.empty() || isCalled(one, selector))
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
