// AblationSteps.cpp - the contracts between two contracts, a field at a time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/AblationSteps.h"

#include "contracts/algebra/Digest.h"
#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/RuleError.h"
#include "contracts/reference/Evaluator.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

namespace bitpact::diff {

using algebra::MergeEntry;
using algebra::MergeOrder;
using algebra::Partition;
using algebra::RuleError;
using nlohmann::json;

namespace {

void take(json &into, const json &from, const std::string &key) {
  if (from.contains(key))
    into[key] = from.at(key);
  else
    into.erase(key);
}

Partition partitionOf(const json &node) {
  return Partition::parse(node.at("partition").get<std::string>());
}
std::vector<MergeEntry> entriesOf(const json &node) {
  return MergeOrder::parse(node.at("merge").get<std::vector<std::string>>())
      .entries();
}

/// The entry that merges the digit with this number; names mean nothing.
const MergeEntry *entryOf(const std::vector<MergeEntry> &entries,
                          const Partition &partition, int digit) {
  if (digit < partition.size())
    for (const MergeEntry &entry : entries)
      if (entry.digit == partition.digits()[digit].name)
        return &entry;
  return nullptr;
}

/// The merge order of a node: digits of `node`, which is changed already; forms
/// and formats each of A or B.
void setMerge(json &node, const json &a, const json &b, bool formsOfB,
              bool formatsOfB) {
  Partition digits = partitionOf(node);
  const json &forms = formsOfB ? b : a;
  const json &formats = formatsOfB ? b : a;
  Partition formDigits = partitionOf(forms),
            formatDigits = partitionOf(formats);
  std::vector<MergeEntry> result = entriesOf(forms);
  std::vector<MergeEntry> other = entriesOf(formats);
  std::vector<std::string> texts;
  for (MergeEntry &entry : result) {
    int digit = formDigits.find(entry.digit).value_or(formDigits.size());
    if (formsOfB != formatsOfB) {
      const MergeEntry *of = entryOf(other, formatDigits, digit);
      entry.from = of ? of->from : std::nullopt;
      entry.in = of ? of->in : std::nullopt;
    }
    if (digit < digits.size() && digits.size() == formDigits.size())
      entry.digit = digits.digits()[digit].name;
    texts.push_back(entry.text());
  }
  node["merge"] = texts;
}

/// The atom of a fused merge is the primitive of the node's step.
void followAtom(json &contract, const std::string &name) {
  json &node = contract.at("nodes").at(name);
  auto step = contract.at("primitives").find(name + ".step");
  if (step == contract.at("primitives").end() ||
      contract.at("definitions").at(step->get<std::string>()).at("kind") !=
          "atom")
    return;
  std::vector<std::string> texts;
  for (MergeEntry entry : entriesOf(node)) {
    if (entry.atom)
      entry.atom = algebra::Atom::parse(step->get<std::string>());
    texts.push_back(entry.text());
  }
  node["merge"] = texts;
}

bool has(const std::vector<Change> &changes, const std::string &path,
         Field field) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change &one) {
    return one.path == path && one.field == field;
  });
}

/// Every rule that canonical JSON can break, or nothing.
std::optional<std::string> brokenRule(const json &canonical) {
  try {
    reference::Evaluator whole(canonical);
    algebra::digest(canonical);
    return std::nullopt;
  } catch (const RuleError &error) {
    return error.what();
  }
}

using Numbers = std::vector<size_t>;

class StepFinder {
public:
  StepFinder(const json &a, const json &b, const Delta &delta)
      : a(a), b(b), delta(delta) {}

  std::vector<Change> changesOf(const Numbers &numbers) const {
    std::vector<Change> changes;
    for (size_t number : numbers)
      changes.push_back(delta.changes[number]);
    return changes;
  }

  /// Nothing where the result breaks a rule, which `broken` then tells.
  std::optional<json> valid(const Numbers &numbers,
                            std::string *broken = nullptr) const {
    try {
      json canonical = withChanges(a, b, changesOf(numbers));
      auto rule = brokenRule(canonical);
      if (!rule)
        return canonical;
      if (broken)
        *broken = *rule;
    } catch (const RuleError &error) {
      if (broken)
        *broken = error.what();
    }
    return std::nullopt;
  }

  /// The smallest valid set with `number`: pairs in order, then all without
  /// what can be left out.
  Numbers smallest(size_t number) const {
    size_t count = delta.changes.size();
    for (size_t other = 0; other < count; ++other)
      if (Numbers pair{std::min(number, other), std::max(number, other)};
          other != number && valid(pair))
        return pair;
    Numbers all(count);
    for (size_t i = 0; i < count; ++i)
      all[i] = i;
    for (size_t without = count; without-- > 0;) {
      Numbers fewer = all;
      std::erase(fewer, without);
      if (without != number && valid(fewer))
        all = fewer;
    }
    return all;
  }

private:
  const json &a, &b;
  const Delta &delta;
};

std::string nameOf(const std::vector<Change> &changes) {
  std::string name;
  std::set<std::string> named;
  for (const Change &change : changes)
    if (std::string one =
            change.field == Field::P && change.path.ends_with(".merge")
                ? change.path + "-formats"
                : change.path;
        named.insert(one).second)
      name += (name.empty() ? "" : "+") + one;
  return name;
}

} // namespace

json withChanges(const json &a, const json &b,
                 const std::vector<Change> &changes) {
  json result = a;
  std::set<std::string> nodes;
  for (const Change &change : changes) {
    std::string table = change.path.substr(0, change.path.find('.'));
    if (table == change.path) { // a key of the whole contract
      take(result, b, table);
      continue;
    }
    if (table != "nodes") {
      take(result[table], b.at(table), change.node);
      if (table == "primitives" && b.at(table).contains(change.node)) {
        auto definition = b.at(table).at(change.node).get<std::string>();
        result["definitions"][definition] = b.at("definitions").at(definition);
      }
      size_t dot = change.node.rfind('.');
      if (table == "primitives" && dot != std::string::npos &&
          result.at("nodes").contains(change.node.substr(0, dot)))
        nodes.insert(change.node.substr(0, dot));
      continue;
    }
    nodes.insert(change.node);
    json &node = result.at("nodes").at(change.node);
    const json &other = b.at("nodes").at(change.node);
    std::string key = change.path.substr(table.size() + change.node.size() + 2);
    if (key.starts_with("precision."))
      take(node["precision"], other.at("precision"),
           key.substr(std::string("precision.").size()));
    else if (key != "merge")
      take(node, other, key);
  }
  for (const std::string &name : nodes) {
    std::string path = "nodes." + name + ".";
    setMerge(result.at("nodes").at(name), a.at("nodes").at(name),
             b.at("nodes").at(name), has(changes, path + "merge", Field::T),
             has(changes, path + "merge", Field::P));
    followAtom(result, name);
  }
  return result;
}

std::vector<AblationStep> singleSteps(const json &a, const json &b,
                                      const Delta &delta) {
  StepFinder finder(a, b, delta);
  std::vector<AblationStep> steps;
  std::set<Numbers> seen;
  for (size_t i = 0; i < delta.changes.size(); ++i) {
    AblationStep step;
    Numbers numbers{i};
    if (!finder.valid(numbers, &step.reason))
      numbers = finder.smallest(i);
    else
      step.reason.clear();
    if (!seen.insert(numbers).second)
      continue;
    step.changes = finder.changesOf(numbers);
    step.name = nameOf(step.changes);
    step.canonical = finder.valid(numbers).value_or(b);
    step.digest = algebra::digest(step.canonical);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<AblationStep>
combinedSteps(const json &a, const json &b, const Delta &delta,
              const std::vector<AblationStep> &singles) {
  StepFinder finder(a, b, delta);
  std::vector<AblationStep> steps;
  std::set<std::string> digests;
  for (const AblationStep &single : singles)
    digests.insert(single.digest);
  for (const AblationStep &single : singles) {
    Numbers rest;
    for (size_t i = 0; i < delta.changes.size(); ++i) {
      const Change &change = delta.changes[i];
      if (!has(single.changes, change.path, change.field))
        rest.push_back(i);
    }
    std::optional<json> canonical;
    if (!rest.empty())
      canonical = finder.valid(rest);
    if (!canonical)
      continue;
    AblationStep step;
    step.name = "all but " + single.name;
    step.changes = finder.changesOf(rest);
    step.digest = algebra::digest(*canonical);
    step.canonical = std::move(*canonical);
    if (digests.insert(step.digest).second)
      steps.push_back(std::move(step));
  }
  return steps;
}

} // namespace bitpact::diff
