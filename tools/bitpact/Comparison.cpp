// Comparison.cpp - two sets of contracts side by side, for people and programs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Comparison.h"

#include "contracts/algebra/RuleError.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Terminal.h"
#include "tools/bitpact/WitnessReport.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

using nlohmann::json;

namespace bitpact::tool {
namespace {

std::vector<diff::SetMember> membersOf(const ContractSet &set) {
  std::vector<diff::SetMember> members;
  for (const SourcedContract &one : set.contracts)
    members.push_back({one.site, one.name, operatorOf(one), one.digest});
  return members;
}

/// Beside something that has no sites, a model set is its contracts.
void dropSites(ContractSet &set) {
  std::set<std::string> names;
  std::vector<SourcedContract> contracts;
  for (SourcedContract &one : set.contracts)
    if (names.insert(one.name).second) {
      one.site.clear();
      contracts.push_back(std::move(one));
    }
  set.contracts = std::move(contracts);
  set.model.reset();
}

void printPair(const ComparedPair &pair) {
  fmt::print("A  {}  {}\nB  {}  {}\n\n", headingOf(*pair.a), pair.a->path,
             headingOf(*pair.b), pair.b->path);
  const diff::Delta &delta = pair.delta;
  if (!delta.changes.empty()) {
    Table table({"node", "field", "A", "B"});
    for (const diff::Change &one : delta.changes)
      table.add({one.node, std::string(diff::name(one.field)), one.before,
                 one.after});
    table.print();
    fmt::print("\n");
  }
  for (const diff::Change &one : delta.changes)
    if (!one.note.empty())
      fmt::print("{}: {}\n", one.node, one.note);
  for (const diff::Equivalence &one : delta.equivalences)
    fmt::print("{}: equivalent, {}\n", one.node, one.rule);
  fmt::print("{}\n", verdictText(delta));
  if (pair.witness)
    printWitness(*pair.witness);
}

json sideJson(const SourcedContract &one) {
  json side{{"name", one.name},
            {"op", operatorOf(one)},
            {"digest", one.digest},
            {"path", one.path}};
  if (!one.site.empty())
    side["site"] = one.site;
  return side;
}

json pairJson(const ComparedPair &pair) {
  json result = diff::toJson(pair.delta);
  result["a"] = sideJson(*pair.a);
  result["b"] = sideJson(*pair.b);
  if (pair.witness)
    result["witness"] = tool::toJson(*pair.witness);
  return result;
}

} // namespace

std::string headingOf(const SourcedContract &contract) {
  return fmt::format("{} ({}) {}", contract.name, operatorOf(contract),
                     shortDigest(contract.digest));
}

std::string verdictText(const diff::Delta &delta) {
  std::string text(delta.verdict());
  if (!delta.comparable)
    return text + ": " + delta.reason;
  std::vector<std::string> fields;
  for (const diff::Change &one : delta.changes)
    if (std::string field(diff::name(one.field));
        std::find(fields.begin(), fields.end(), field) == fields.end())
      fields.push_back(field);
  if (delta.changes.empty())
    return text;
  text += fmt::format(": {} {} in", delta.changes.size(),
                      delta.changes.size() == 1 ? "entry" : "entries");
  for (const std::string &field : fields)
    text += " " + field;
  return text;
}

Comparison::Comparison(ContractSet a, ContractSet b)
    : left(std::move(a)), right(std::move(b)) {
  if (left.model && right.model)
    modelChanges = diff::compareModels(*left.model, *right.model);
  else
    for (ContractSet *set : {&left, &right})
      dropSites(*set);
  single = left.contracts.size() == 1 && right.contracts.size() == 1;
  // One contract beside a set asks for its counterpart, not for the rest.
  bool oneOfMany = left.contracts.size() == 1 || right.contracts.size() == 1;
  for (const diff::SetPair &pair :
       diff::matchSets(membersOf(left), membersOf(right))) {
    ComparedPair compared;
    if (pair.a)
      compared.a = &left.contracts[*pair.a];
    if (pair.b)
      compared.b = &right.contracts[*pair.b];
    const SourcedContract &one = compared.a ? *compared.a : *compared.b;
    compared.label = one.site.empty() ? one.name : one.site;
    if (!compared.whole() && oneOfMany)
      continue;
    if (compared.whole()) {
      try {
        compared.delta =
            diff::compare(compared.a->canonical, compared.b->canonical);
      } catch (const algebra::RuleError &error) {
        throw evidence::UserError(one.path, error.what());
      }
    }
    pairs.push_back(std::move(compared));
  }
  if (pairs.empty()) {
    const ContractSet &alone = left.contracts.size() == 1 ? left : right;
    const ContractSet &many = left.contracts.size() == 1 ? right : left;
    std::string known;
    for (const SourcedContract &one : many.contracts)
      known += "\n  " + headingOf(one);
    throw evidence::UserError(
        many.path,
        fmt::format("there is no one contract here to compare with {}; say "
                    "which with --op; there are:{}",
                    headingOf(alone.contracts.front()), known));
  }
}

int Comparison::exitCode() const {
  bool differs = !modelChanges.empty(), comparable = true;
  for (const ComparedPair &pair : pairs) {
    differs |= !pair.whole() || !pair.delta.changes.empty();
    comparable &= pair.delta.comparable;
  }
  return !comparable ? NotComparable : differs ? Differs : Holds;
}

std::string_view Comparison::verdict() const {
  if (int code = exitCode(); code != Holds)
    return code == Differs ? "different" : "not comparable";
  bool equal =
      std::all_of(pairs.begin(), pairs.end(), [](const ComparedPair &pair) {
        return pair.delta.verdict() == "equal";
      });
  return equal ? "equal" : "equivalent";
}

void Comparison::print() const {
  if (single)
    return printPair(pairs.front());
  Table table(
      {left.model && right.model ? "site" : "contract", "A", "B", "verdict"});
  for (const ComparedPair &pair : pairs)
    table.add({pair.label, pair.a ? shortDigest(pair.a->digest) : "-",
               pair.b ? shortDigest(pair.b->digest) : "-",
               !pair.a   ? "only in B"
               : !pair.b ? "only in A"
                         : verdictText(pair.delta)});
  table.print();
  if (!modelChanges.empty()) {
    fmt::print("\n");
    Table changes({"model", "A", "B"});
    for (const diff::ModelChange &one : modelChanges)
      changes.add({one.what, one.before, one.after});
    changes.print();
  }
  // Sites of one contract have one table.
  std::map<std::pair<std::string, std::string>, std::string> shown;
  for (const ComparedPair &pair : pairs) {
    if (!pair.whole() || pair.delta.verdict() == "equal")
      continue;
    auto [at, isNew] =
        shown.emplace(std::pair(pair.a->digest, pair.b->digest), pair.label);
    fmt::print("\n{}\n", pair.label);
    if (isNew)
      printPair(pair);
    else
      fmt::print("as {}\n", at->second);
  }
  fmt::print("\n{}\n", verdict());
}

json Comparison::toJson() const {
  if (single) {
    json result = pairJson(pairs.front());
    result["status"] = exitCode();
    return result;
  }
  json result{{"status", exitCode()},       {"verdict", verdict()},
              {"pairs", json::array()},     {"only_in_a", json::array()},
              {"only_in_b", json::array()}, {"model", json::array()}};
  for (const ComparedPair &pair : pairs)
    if (pair.whole())
      result["pairs"].push_back(pairJson(pair));
    else
      result[pair.a ? "only_in_a" : "only_in_b"].push_back(
          sideJson(pair.a ? *pair.a : *pair.b));
  for (const diff::ModelChange &one : modelChanges)
    result["model"].push_back(
        {{"what", one.what}, {"before", one.before}, {"after", one.after}});
  return result;
}

} // namespace bitpact::tool
