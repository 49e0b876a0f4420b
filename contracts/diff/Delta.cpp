// Delta.cpp - ΔC: F first, then field by field
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/Delta.h"

#include "contracts/algebra/CanonicalJson.h"
#include "contracts/algebra/Digest.h"
#include "contracts/algebra/RuleError.h"
#include "contracts/diff/NodeDelta.h"
#include "contracts/diff/OperatorDelta.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace bitpact::diff {
namespace {

using algebra::RuleError;
using nlohmann::json;

std::set<std::string> keysOf(const json &a, const json &b) {
  std::set<std::string> keys;
  for (const json *side : {&a, &b})
    for (const auto &[key, value] : side->items())
      keys.insert(key);
  return keys;
}

std::string textOf(const json &value) {
  if (value.is_null())
    return "absent";
  if (value.is_object() && value.contains("format") && value.contains("mode"))
    return fmt::format("{} {}", value.at("format").get<std::string>(),
                       value.at("mode").get<std::string>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const json &at(const json &object, const std::string &key) {
  static const json none;
  auto found = object.find(key);
  return found == object.end() ? none : *found;
}

/// The entries of a table whose values differ in the digest forms. The texts
/// come from the contracts themselves.
void compareTables(const json &formA, const json &formB, const json &a,
                   const json &b, const std::string &table, Field field,
                   Delta &delta) {
  for (const std::string &key : keysOf(formA.at(table), formB.at(table))) {
    const json &before = at(formA.at(table), key);
    const json &after = at(formB.at(table), key);
    if (before == after)
      continue;
    Change change{field, key, table + "." + key, textOf(at(a.at(table), key)),
                  textOf(at(b.at(table), key))};
    // Definitions of one name: the digests tell them apart.
    if (change.before == change.after) {
      change.before += " " + textOf(before).substr(0, 12);
      change.after += " " + textOf(after).substr(0, 12);
    }
    delta.changes.push_back(std::move(change));
  }
}

/// Where two states have one tree and only one of them can rescale or combine
/// (rule S6), neither ever does.
void dropIdleSites(Delta &delta) {
  auto idle = [&](const Change &change) {
    if (change.field != Field::A ||
        (change.before != "absent" && change.after != "absent"))
      return false;
    for (const Equivalence &one : delta.equivalences)
      if (change.node == one.node + ".rescale" ||
          change.node == one.node + ".combine")
        return true;
    return false;
  };
  delta.changes.erase(
      std::remove_if(delta.changes.begin(), delta.changes.end(), idle),
      delta.changes.end());
}

/// What the tables above do not know, in a version to come.
void compareRest(const json &formA, const json &formB, Delta &delta) {
  static const std::set<std::string> known{"bitpact",  "op",        "params",
                                           "dims",     "types",     "nodes",
                                           "rounding", "primitives"};
  for (const std::string &key : keysOf(formA, formB))
    if (!known.count(key) && at(formA, key) != at(formB, key))
      delta.changes.push_back(
          {Field::D, key, key, textOf(at(formA, key)), textOf(at(formB, key))});
}

} // namespace

std::string_view name(Field field) {
  constexpr std::string_view names[] = {"D", "Π", "T", "P", "R", "A"};
  return names[static_cast<size_t>(field)];
}

std::string_view Delta::verdict() const {
  if (!comparable)
    return "not comparable";
  if (!changes.empty())
    return "different";
  return equivalences.empty() ? "equal" : "equivalent";
}

Delta compare(const json &a, const json &b) try {
  json formA = algebra::digestForm(a), formB = algebra::digestForm(b);
  Delta delta;
  if (formA == formB)
    return delta;
  if (formA.at("bitpact") != formB.at("bitpact")) {
    delta.comparable = false;
    delta.reason =
        fmt::format("A is of version {} of the language, B of {}",
                    formA.at("bitpact").dump(), formB.at("bitpact").dump());
    return delta;
  }
  compareOperators(a, b, delta);
  if (!delta.comparable)
    return delta;
  compareTables(formA, formB, a, b, "dims", Field::D, delta);
  for (const auto &[node, value] : a.at("nodes").items())
    compareNodes(a, b, node, delta);
  compareTables(formA, formB, a, b, "types", Field::P, delta);
  compareTables(formA, formB, a, b, "rounding", Field::R, delta);
  compareTables(formA, formB, a, b, "primitives", Field::A, delta);
  dropIdleSites(delta);
  compareRest(formA, formB, delta);
  return delta;
} catch (const json::exception &error) {
  throw RuleError("C4", std::string("no canonical contract: ") + error.what());
}

json toJson(const Delta &delta) {
  json result{{"verdict", delta.verdict()},
              {"comparable", delta.comparable},
              {"changes", json::array()},
              {"equivalences", json::array()}};
  if (!delta.comparable)
    result["reason"] = delta.reason;
  for (const Change &change : delta.changes) {
    json one{{"field", name(change.field)},
             {"node", change.node},
             {"path", change.path},
             {"before", change.before},
             {"after", change.after}};
    if (!change.note.empty())
      one["note"] = change.note;
    result["changes"].push_back(std::move(one));
  }
  for (const Equivalence &one : delta.equivalences)
    result["equivalences"].push_back({{"node", one.node}, {"rule", one.rule}});
  return result;
}

} // namespace bitpact::diff
