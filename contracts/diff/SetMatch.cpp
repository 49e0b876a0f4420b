// SetMatch.cpp - which contracts of two sets belong together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/SetMatch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace bitpact::diff {
namespace {

/// Pairs what has one key, if that is alone on both sides.
template <class Key>
void matchBy(const std::vector<SetMember> &a, const std::vector<SetMember> &b,
             std::vector<std::optional<size_t>> &partners,
             std::vector<bool> &taken, Key key) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (partners[i] || key(a[i]).empty())
      continue;
    size_t rivals = 0, count = 0, found = 0;
    for (size_t j = 0; j < a.size(); ++j)
      rivals += !partners[j] && key(a[j]) == key(a[i]);
    for (size_t j = 0; j < b.size(); ++j)
      if (!taken[j] && key(b[j]) == key(a[i])) {
        found = j;
        ++count;
      }
    if (rivals == 1 && count == 1) {
      partners[i] = found;
      taken[found] = true;
    }
  }
}

std::string connectionText(const Connection &connection) {
  std::vector<std::string> to;
  for (const Port &port : connection.to)
    to.push_back(port.text());
  return fmt::format("{} → {}{}", connection.from.text(), fmt::join(to, ", "),
                     connection.next ? " of the next layer" : "");
}

} // namespace

std::vector<SetPair> matchSets(const std::vector<SetMember> &a,
                               const std::vector<SetMember> &b) {
  std::vector<std::optional<size_t>> partners(a.size());
  std::vector<bool> taken(b.size(), false);
  auto matchAll = [&](auto key) { matchBy(a, b, partners, taken, key); };
  bool sites =
      !a.empty() && !b.empty() && !a[0].site.empty() && !b[0].site.empty();
  if (a.size() == 1 && b.size() == 1) {
    partners[0] = 0;
    taken[0] = true;
  } else if (sites) {
    matchAll([](const SetMember &one) { return one.site; });
  } else {
    matchAll([](const SetMember &one) { return one.name; });
    matchAll([](const SetMember &one) { return one.digest; });
    matchAll([](const SetMember &one) { return one.op; });
  }
  std::vector<SetPair> pairs;
  for (size_t i = 0; i < a.size(); ++i)
    pairs.push_back({i, partners[i]});
  for (size_t j = 0; j < b.size(); ++j)
    if (!taken[j])
      pairs.push_back({std::nullopt, j});
  return pairs;
}

std::vector<ModelChange> compareModels(const ModelSet &a, const ModelSet &b) {
  auto textsOf = [](const ModelSet &set) {
    std::map<std::string, std::string> texts;
    for (const Connection &one : set.tensors)
      texts["tensor " + one.name] = connectionText(one);
    for (const auto &[site, dims] : set.cut)
      if (!dims.empty())
        texts["cut of " + site] = fmt::format("{}", fmt::join(dims, ", "));
    return texts;
  };
  std::map<std::string, std::string> before = textsOf(a), after = textsOf(b);
  std::set<std::string> keys;
  for (const auto *side : {&before, &after})
    for (const auto &[key, text] : *side)
      keys.insert(key);
  std::vector<ModelChange> changes;
  auto at = [](const auto &side, const std::string &key) {
    auto found = side.find(key);
    return found == side.end() ? std::string("absent") : found->second;
  };
  for (const std::string &key : keys)
    if (at(before, key) != at(after, key))
      changes.push_back({key, at(before, key), at(after, key)});
  return changes;
}

} // namespace bitpact::diff
