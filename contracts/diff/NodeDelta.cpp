// NodeDelta.cpp - how two contracts reduce at one node
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/NodeDelta.h"

#include "contracts/algebra/RuleError.h"
#include "contracts/diff/NodeShape.h"

#include <fmt/format.h>

#include <set>

namespace bitpact::diff {
namespace {

using nlohmann::json;

std::string textOf(const json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string textAt(const json &object, const std::string &key) {
  return object.contains(key) ? textOf(object.at(key)) : "absent";
}

/// "vocab", "vocab 151936 of 152064".
std::string domainText(const json &domain) {
  if (domain.is_string())
    return domain.get<std::string>();
  std::string dim = domain.items().begin().key();
  const json &present = *domain.begin();
  if (present.is_object() && present.contains("extent") &&
      present.contains("stored"))
    return fmt::format("{} {} of {}", dim, present.at("extent").dump(),
                       present.at("stored").dump());
  return dim + " " + textOf(present);
}

std::string mergeText(const json &node) {
  std::string result;
  for (const json &text : node.at("merge"))
    result += (result.empty() ? "" : ", ") + text.get<std::string>();
  return result;
}

/// Forms and their order with digits by number.
std::string formsOf(const Shape &shape) {
  const algebra::Reduction reduction = bare(shape).reduction;
  return reduction.order.renamed(reduction.partition).text();
}

/// The formats that merges round to, innermost first; only those that do.
std::string formatsOf(const Shape &shape) {
  std::string text;
  for (const algebra::MergeEntry &entry : shape.reduction.order.entries()) {
    auto add = [&](const char *key, std::optional<algebra::Format> format) {
      if (format &&
          !algebra::widensExactly(shape.reduction.accumulator, *format))
        text += fmt::format("{} {} ", key, algebra::name(*format));
    };
    add("from", entry.from);
    add("in", entry.in);
    text += "| ";
  }
  return text.find_first_not_of("| ") == text.npos ? "" : text;
}

class NodeComparison {
public:
  NodeComparison(const json &a, const json &b, const std::string &name,
                 Delta &delta)
      : delta(delta), name(name), left(a.at("nodes").at(name)),
        right(b.at("nodes").at(name)), mine(shapeOf(a, name)),
        other(shapeOf(b, name)),
        extents(together(extentsOf(a, name), extentsOf(b, name))) {}

  void run() {
    if (left.at("domain") != right.at("domain"))
      change(Field::D, "domain", domainText(left.at("domain")),
             domainText(right.at("domain")));
    compareTrees();
    // Every other key, so that one of a later version is not passed over.
    for (const std::string &key : keysOf(left, right))
      if (textAt(left, key) != textAt(right, key))
        change(key == "offsets" ? Field::D : Field::T, key, textAt(left, key),
               textAt(right, key));
    const json &before = left.at("precision"), &after = right.at("precision");
    for (const std::string &key : keysOf(before, after))
      if (textAt(before, key) != textAt(after, key))
        change(Field::P, "precision." + key, textAt(before, key),
               textAt(after, key));
  }

private:
  Delta &delta;
  const std::string &name;
  const json &left, &right;
  Shape mine, other;
  Extents extents;

  void change(Field field, const std::string &key, std::string before,
              std::string after, std::string note = "") {
    delta.changes.push_back({field, name, "nodes." + name + "." + key,
                             std::move(before), std::move(after),
                             std::move(note)});
  }

  static std::set<std::string> keysOf(const json &a, const json &b) {
    static const std::set<std::string> known{
        "domain", "partition", "merge", "start", "state", "precision", "doc"};
    std::set<std::string> keys;
    for (const json *node : {&a, &b})
      for (const auto &[key, value] : node->items())
        if (!known.count(key))
          keys.insert(key);
    return keys;
  }

  bool covered() const {
    return covers(mine, extents) && covers(other, extents);
  }

  /// Trees of extents that only one side's digits cover cannot be compared.
  Decision decided(const Shape &a, const Shape &b) const {
    return covered() ? decide(a, b, extents) : Decision{};
  }

  /// Π and T: texts first, then the trees that they mean. Formats of merges
  /// are P; what `fused` names is the step's primitive, which is A.
  void compareTrees() {
    std::string before = mine.reduction.partition.renamed().text();
    std::string after = other.reduction.partition.renamed().text();
    bool digits = before != after, forms = formsOf(mine) != formsOf(other);
    bool texts = digits || forms ||
                 textAt(left, "start") != textAt(right, "start") ||
                 textAt(left, "state") != textAt(right, "state");
    bool formats = formatsOf(mine) != formatsOf(other);
    Decision trees{Decision::Equal};
    if (texts) {
      trees = decided(bare(mine), bare(other));
      if (trees.verdict != Decision::Equal) {
        std::string rule = withStartOf(digits || forms);
        if (!rule.empty())
          delta.equivalences.push_back({name, rule});
        listTexts(digits && rule.empty(), forms && rule.empty(),
                  covered() ? trees.text() : "");
      }
    }
    if (!texts && !formats)
      return listRedundantFormats();
    if (formatsOf(mine).empty() && formatsOf(other).empty()) {
      if (trees.verdict == Decision::Equal)
        delta.equivalences.push_back({name, trees.text()});
      return;
    }
    if (trees.verdict != Decision::Equal) {
      if (formats)
        change(Field::P, "merge", mergeText(left), mergeText(right));
      return;
    }
    Decision whole = decided(withoutAtoms(mine), withoutAtoms(other));
    if (whole.verdict == Decision::Equal)
      delta.equivalences.push_back({name, whole.text()});
    else
      change(Field::P, "merge", mergeText(left), mergeText(right),
             covered() ? whole.text() : "");
  }

  /// Digits and merges that mean the same and only begin otherwise: the start
  /// is the one cause. The rule that says so, or nothing.
  std::string withStartOf(bool texts) const {
    if (!texts || mine.reduction.start == other.reduction.start)
      return "";
    Shape begun = bare(other);
    begun.reduction.start = mine.reduction.start;
    try {
      begun.reduction.validate(); // an atom needs a start of its own
    } catch (const algebra::RuleError &) {
      return "";
    }
    Decision rest = decided(bare(mine), begun);
    return rest.verdict == Decision::Equal ? rest.text() + ", but for the start"
                                           : "";
  }

  void listTexts(bool digits, bool forms, std::string note) {
    size_t first = delta.changes.size();
    if (digits)
      change(Field::Pi, "partition", mine.reduction.partition.text(),
             other.reduction.partition.text());
    if (forms)
      change(Field::T, "merge", mergeText(left), mergeText(right));
    for (const char *key : {"start", "state"})
      if (textAt(left, key) != textAt(right, key))
        change(Field::T, key, textAt(left, key), textAt(right, key));
    delta.changes[first].note = std::move(note);
  }

  /// Formats that are written on one side only and round nothing.
  void listRedundantFormats() {
    auto written = [](const Shape &shape) {
      return withoutAtoms(shape)
          .reduction.order.renamed(shape.reduction.partition)
          .text();
    };
    if (written(mine) != written(other))
      delta.equivalences.push_back({name, fmt::format("Q7 ({})", ruleText(7))});
  }
};

} // namespace

void compareNodes(const json &a, const json &b, const std::string &name,
                  Delta &delta) {
  NodeComparison(a, b, name, delta).run();
}

} // namespace bitpact::diff
