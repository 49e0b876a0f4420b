// NodeDelta.cpp - how two contracts reduce at one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/NodeDelta.h"

#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/Partition.h"

#include <fmt/format.h>

#include <set>

namespace bitpact::diff {
namespace {

using nlohmann::json;

std::string domainText(const json &domain) {
  if (domain.is_string())
    return domain.get<std::string>();
  const auto &item = *domain.items().begin();
  if (item.value().is_object() && item.value().contains("extent") &&
      item.value().contains("stored"))
    return fmt::format("{} {} of {}", item.key(),
                       item.value().at("extent").dump(),
                       item.value().at("stored").dump());
  return item.key() + " " + item.value().dump();
}

std::string textOf(const json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const json &texts) {
  std::string result;
  for (const json &text : texts)
    result += (result.empty() ? "" : ", ") + text.get<std::string>();
  return result;
}

struct Texts {
  explicit Texts(const json &node)
      : partition(
            algebra::Partition::parse(node.at("partition").get<std::string>())),
        order(algebra::MergeOrder::parse(
            node.at("merge").get<std::vector<std::string>>())) {}
  algebra::Partition partition;
  algebra::MergeOrder order;

  std::string digits() const { return partition.renamed().text(); }
  /// Forms and their order; formats belong to P and atoms to A.
  std::string forms() const {
    std::vector<algebra::MergeEntry> entries =
        order.renamed(partition).entries();
    for (algebra::MergeEntry &entry : entries) {
      entry.from.reset();
      entry.in.reset();
      entry.atom.reset();
    }
    std::string text;
    for (const algebra::MergeEntry &entry : entries)
      text += entry.text() + ", ";
    return text;
  }
  std::string formats() const {
    std::string text;
    for (const algebra::MergeEntry &entry : order.entries()) {
      algebra::MergeEntry formatsOnly = entry;
      formatsOnly.atom.reset();
      text += (entry.from ? fmt::format("{} ", algebra::name(*entry.from))
                          : std::string("- ")) +
              (entry.in ? fmt::format("{}, ", algebra::name(*entry.in))
                        : std::string("-, "));
    }
    return text;
  }
};

} // namespace

void compareNodes(const json &a, const json &b, const std::string &name,
                  Delta &delta) {
  const json &left = a.at("nodes").at(name), &right = b.at("nodes").at(name);
  std::string where = "nodes." + name;
  auto change = [&](Field field, const std::string &key, std::string before,
                    std::string after) {
    delta.changes.push_back(
        {field, name, where + "." + key, std::move(before), std::move(after)});
  };
  if (left.at("domain") != right.at("domain"))
    change(Field::D, "domain", domainText(left.at("domain")),
           domainText(right.at("domain")));
  Texts mine(left), other(right);
  if (mine.digits() != other.digits())
    change(Field::Pi, "partition", mine.partition.text(),
           other.partition.text());
  std::string merges = joined(left.at("merge"));
  if (mine.forms() != other.forms())
    change(Field::T, "merge", merges, joined(right.at("merge")));
  if (mine.formats() != other.formats())
    change(Field::P, "merge", merges, joined(right.at("merge")));
  // Every other key, so that a new one is not passed over.
  std::set<std::string> keys;
  for (const json *node : {&left, &right})
    for (const auto &[key, value] : node->items())
      if (key != "domain" && key != "partition" && key != "merge" &&
          key != "precision" && key != "doc")
        keys.insert(key);
  auto valueAt = [](const json &object, const std::string &key) {
    return object.contains(key) ? textOf(object.at(key)) : "absent";
  };
  for (const std::string &key : keys)
    if (valueAt(left, key) != valueAt(right, key))
      change(key == "offsets" ? Field::D : Field::T, key, valueAt(left, key),
             valueAt(right, key));
  keys.clear();
  for (const json *node : {&left, &right})
    for (const auto &[key, value] : node->at("precision").items())
      keys.insert(key);
  for (const std::string &key : keys)
    if (valueAt(left.at("precision"), key) !=
        valueAt(right.at("precision"), key))
      change(Field::P, "precision." + key, valueAt(left.at("precision"), key),
             valueAt(right.at("precision"), key));
}

} // namespace bitpact::diff
