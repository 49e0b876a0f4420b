// ModelSet.cpp - the contracts of a model and how they hang together (M1-M7)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/ModelSet.h"

#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/RuleError.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace bitpact::diff {
namespace {

using algebra::RuleError;
using nlohmann::json;

std::string place(const std::string &path, const std::string &text, size_t at) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < std::min(at, text.size()); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n';
  }
  return fmt::format("{}:{}:{}", path, line, column);
}

/// The first key that stands twice in one object.
struct DuplicateFinder {
  std::vector<std::set<std::string>> objects;
  std::optional<std::string> found;

  bool operator()(int, json::parse_event_t event, const json &value) {
    if (event == json::parse_event_t::object_start)
      objects.emplace_back();
    else if (event == json::parse_event_t::object_end && !objects.empty())
      objects.pop_back();
    else if (event == json::parse_event_t::key && !found &&
             !objects.back().insert(value.get<std::string>()).second)
      found = value.get<std::string>();
    return true;
  }
};

const json *tensorOf(const json &contract, const std::string &name) {
  for (const json &tensor : contract.at("op").at("tensors"))
    if (tensor.at("name") == name)
      return &tensor;
  return nullptr;
}

std::string tensorNames(const json &contract) {
  std::vector<std::string> names;
  for (const json &tensor : contract.at("op").at("tensors"))
    names.push_back(tensor.at("name").get<std::string>());
  return fmt::format("{}", fmt::join(names, " "));
}

/// "bf16 [tokens=*, hidden=4096]" without the names, which sites choose.
std::string shapeText(const json &contract, const json &tensor) {
  std::vector<std::string> extents;
  for (const json &dim : tensor.at("dims")) {
    const json &extent = contract.at("dims").at(dim.get<std::string>());
    extents.push_back(extent.is_string() ? extent.get<std::string>()
                                         : extent.dump());
  }
  return fmt::format("{}[{}]",
                     contract.at("types")
                         .at(tensor.at("name").get<std::string>())
                         .get<std::string>(),
                     fmt::join(extents, ", "));
}

} // namespace

bool ModelSet::looksLike(const json &value) {
  return value.is_object() && value.contains("bitpact_model");
}

std::string ModelSet::placeOf(const std::string &quoted, int n) const {
  std::string needle = json(quoted).dump();
  size_t at = text.find(needle);
  while (--n > 0 && at != text.npos)
    at = text.find(needle, at + 1);
  return at == text.npos ? path : place(path, text, at);
}

ModelSet ModelSet::parse(const std::string &text, const std::string &path) {
  ModelSet set;
  set.path = path;
  set.text = text;
  DuplicateFinder duplicates;
  json value;
  try {
    value = json::parse(text, std::ref(duplicates), true, true);
  } catch (const json::parse_error &error) {
    std::string reason = error.what();
    throw RuleError("M1", reason.substr(reason.rfind(": ") + 2),
                    place(path, text, error.byte ? error.byte - 1 : 0));
  }
  if (duplicates.found)
    throw RuleError("M1",
                    fmt::format("the key '{}' stands twice", *duplicates.found),
                    set.placeOf(*duplicates.found, 2));
  if (!value.is_object())
    throw RuleError("M1", "a model set is a JSON object", path);
  static const std::map<std::string, json::value_t> keys{
      {"bitpact_model", json::value_t::number_unsigned},
      {"name", json::value_t::string},
      {"doc", json::value_t::string},
      {"contracts", json::value_t::object},
      {"tensors", json::value_t::object},
      {"cut", json::value_t::object}};
  for (const auto &[key, inner] : value.items()) {
    auto known = keys.find(key);
    if (known == keys.end())
      throw RuleError("M1",
                      fmt::format("there is no key '{}'; there are "
                                  "bitpact_model name doc contracts tensors "
                                  "cut",
                                  key),
                      set.placeOf(key));
    if (inner.type() != known->second)
      throw RuleError("M1",
                      fmt::format("'{}' is {}, it must be {}", key,
                                  inner.type_name(),
                                  json(known->second).type_name()),
                      set.placeOf(key));
  }
  for (const char *key : {"bitpact_model", "name", "contracts"})
    if (!value.contains(key))
      throw RuleError("M1", fmt::format("the key '{}' is missing", key), path);
  if (value.at("bitpact_model") != 1)
    throw RuleError("M1",
                    fmt::format("bitpact_model is {}, it must be 1",
                                value.at("bitpact_model").dump()),
                    set.placeOf("bitpact_model"));
  set.name = value.at("name").get<std::string>();
  set.readSites(value.at("contracts"));
  set.readTensors(value.value("tensors", json::object()));
  set.readCut(value.value("cut", json::object()));
  set.checkCircles();
  return set;
}

void ModelSet::readSites(const json &value) {
  for (const auto &[site, file] : value.items()) {
    if (!file.is_string())
      throw RuleError("M2", fmt::format("'{}' names no contract file", site),
                      placeOf(site));
    if (site.empty() || site.find('.') != site.npos)
      throw RuleError("M2", "the name of a site is not empty and has no '.'",
                      placeOf(site));
    sites.push_back({site, file.get<std::string>()});
  }
  if (sites.empty())
    throw RuleError("M2", "the set has no contracts", placeOf("contracts"));
}

Port ModelSet::portAt(const json &value, const std::string &key) const {
  std::string where = placeOf(key);
  if (!value.is_string())
    throw RuleError("M3", fmt::format("'{}' is no tensor of a site", key),
                    where);
  auto port = value.get<std::string>();
  size_t dot = port.find('.');
  std::string site = port.substr(0, dot);
  bool known =
      std::any_of(sites.begin(), sites.end(),
                  [&](const ModelSite &one) { return one.name == site; });
  if (dot == port.npos || !known)
    throw RuleError("M3",
                    fmt::format("'{}' is no tensor of a site; one is written "
                                "site.tensor",
                                port),
                    placeOf(port));
  return {site, port.substr(dot + 1)};
}

void ModelSet::readTensors(const json &value) {
  std::set<Port> fed;
  for (const auto &[name, tensor] : value.items()) {
    auto wrong = [&, where = placeOf(name)](const std::string &reason) {
      throw RuleError("M3", reason, where);
    };
    if (!tensor.is_object() || !tensor.contains("from") ||
        !tensor.contains("to") || !tensor.at("to").is_array() ||
        tensor.at("to").empty())
      wrong(fmt::format("'{}' needs 'from', a tensor, and 'to', a list of "
                        "tensors",
                        name));
    for (const auto &[key, inner] : tensor.items())
      if (key != "from" && key != "to" && key != "next")
        wrong(fmt::format("'{}' has no key '{}'; there are from to next", name,
                          key));
    if (tensor.contains("next") && tensor.at("next") != "layer")
      wrong(fmt::format("'next' of '{}' is {}, it must be \"layer\"", name,
                        tensor.at("next").dump()));
    Connection connection{name, portAt(tensor.at("from"), name), {}};
    connection.next = tensor.contains("next");
    for (const json &to : tensor.at("to")) {
      connection.to.push_back(portAt(to, name));
      const Port &port = connection.to.back();
      if (!connection.next && !fed.insert(port).second)
        throw RuleError("M4",
                        fmt::format("'{}' takes two tensors", port.text()),
                        placeOf(port.text(), 2));
    }
    tensors.push_back(std::move(connection));
  }
}

void ModelSet::readCut(const json &value) {
  for (const auto &[site, dims] : value.items()) {
    bool known = std::any_of(
        sites.begin(), sites.end(),
        [&, &site = site](const ModelSite &one) { return one.name == site; });
    bool texts = dims.is_array() &&
                 std::all_of(dims.begin(), dims.end(),
                             [](const json &dim) { return dim.is_string(); });
    if (!known || !texts)
      throw RuleError("M6",
                      known ? fmt::format("'{}' needs a list of dims", site)
                            : fmt::format("there is no site '{}'", site),
                      placeOf(site, known ? 2 : 1));
    cut[site] = dims.get<std::vector<std::string>>();
  }
}

void ModelSet::checkCircles() const {
  std::map<std::string, std::set<std::string>> after;
  for (const Connection &one : tensors)
    if (!one.next)
      for (const Port &to : one.to)
        after[one.from.site].insert(to.site);
  std::set<std::string> done;
  std::vector<std::string> path;
  auto visit = [&](auto &&self, const std::string &site) -> void {
    auto open = std::find(path.begin(), path.end(), site);
    if (open != path.end()) {
      std::vector<std::string> circle(open, path.end());
      circle.push_back(site);
      throw RuleError("M5",
                      fmt::format("the tensors run in a circle, {}; one that "
                                  "leads to the next layer says \"next\": "
                                  "\"layer\"",
                                  fmt::join(circle, " → ")),
                      placeOf("tensors"));
    }
    if (!done.insert(site).second)
      return;
    path.push_back(site);
    for (const std::string &next : after[site])
      self(self, next);
    path.pop_back();
  };
  for (const ModelSite &site : sites)
    visit(visit, site.name);
}

void ModelSet::check(const std::map<std::string, json> &contracts) const {
  for (const Connection &one : tensors) {
    const json &source = contracts.at(one.from.site);
    const json *from = tensorOf(source, one.from.tensor);
    if (!from || from->at("kind") != "out")
      throw RuleError("M3",
                      fmt::format("'{}' is no output; tensors of that contract "
                                  "are {}",
                                  one.from.text(), tensorNames(source)),
                      placeOf(one.from.text()));
    for (const Port &port : one.to) {
      const json &target = contracts.at(port.site);
      const json *to = tensorOf(target, port.tensor);
      if (!to || to->at("kind") == "out")
        throw RuleError("M3",
                        fmt::format("'{}' is no input; tensors of that "
                                    "contract are {}",
                                    port.text(), tensorNames(target)),
                        placeOf(port.text()));
      std::string given = shapeText(source, *from);
      std::string taken = shapeText(target, *to);
      if (given != taken)
        throw RuleError("M7",
                        fmt::format("'{}' is {}, '{}' takes {}",
                                    one.from.text(), given, port.text(), taken),
                        placeOf(port.text()));
    }
  }
  for (const auto &[site, dims] : cut) {
    const json &contract = contracts.at(site);
    for (const std::string &dim : dims) {
      if (!contract.at("dims").contains(dim))
        throw RuleError("M6", fmt::format("'{}' has no dim '{}'", site, dim),
                        placeOf(dim));
      for (const auto &[name, node] : contract.at("nodes").items()) {
        const json &domain = node.at("domain");
        std::string over = domain.is_string() ? domain.get<std::string>()
                                              : domain.items().begin().key();
        if (over != dim)
          continue;
        auto partition =
            algebra::Partition::parse(node.at("partition").get<std::string>());
        auto last = algebra::MergeOrder::parse(
                        node.at("merge").get<std::vector<std::string>>())
                        .bind(partition)
                        .back();
        bool whole = last.digit == 0 && last.form != algebra::Form::Chain &&
                     last.form != algebra::Form::Fused &&
                     last.form != algebra::Form::Carry;
        if (!whole)
          throw RuleError(
              "M6",
              fmt::format("node '{}' of '{}' does not merge blocks of its "
                          "outermost digit last, so that no rank can own whole "
                          "parts of '{}'",
                          name, site, dim),
              placeOf(dim));
      }
    }
  }
}

} // namespace bitpact::diff
