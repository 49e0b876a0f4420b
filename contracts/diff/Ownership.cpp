// Ownership.cpp - shards as what they cover of a logical axis
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Ownership.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace bitpact::diff {
namespace {

void add(std::vector<Interval> &list, int64_t start, int64_t end) {
  if (!list.empty() && list.back().second == start)
    list.back().second = end;
  else
    list.emplace_back(start, end);
}

} // namespace

Coverage coverageOf(const Ownership &ownership) {
  // How many shards begin and end at each place.
  std::map<int64_t, int64_t> steps;
  for (const auto &[rank, ranges] : ownership.shards)
    for (auto [start, end] : ranges) {
      ++steps[start];
      --steps[end];
    }
  Coverage coverage;
  coverage.extent = ownership.extent;
  int64_t owners = 0, from = 0;
  for (auto [place, step] : steps) {
    if (owners > 0)
      add(coverage.owned, from, place);
    if (owners > 1 && !ownership.replicated)
      add(coverage.doubled, from, place);
    owners += step;
    from = place;
  }
  return coverage;
}

std::string textOf(const Coverage &coverage) {
  auto list = [](const std::vector<Interval> &intervals) {
    std::string text;
    for (size_t i = 0; i < intervals.size() && i < 8; ++i)
      text += fmt::format("{}[{}, {})", i ? " " : "", intervals[i].first,
                          intervals[i].second);
    return intervals.size() > 8 ? text + " …" : text;
  };
  std::string text =
      coverage.owned.empty() ? std::string("nothing") : list(coverage.owned);
  text += fmt::format(" of {}", coverage.extent);
  if (!coverage.doubled.empty())
    text += fmt::format(", {} by several ranks", list(coverage.doubled));
  return text;
}

int64_t firstDifference(const Coverage &a, const Coverage &b) {
  auto first = [](const std::vector<Interval> &x,
                  const std::vector<Interval> &y) -> int64_t {
    for (size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
      if (i == x.size() || i == y.size())
        return i == x.size() ? y[i].first : x[i].first;
      if (x[i].first != y[i].first)
        return std::min(x[i].first, y[i].first);
      if (x[i].second != y[i].second)
        return std::min(x[i].second, y[i].second);
    }
    return -1;
  };
  int64_t owned = first(a.owned, b.owned),
          doubled = first(a.doubled, b.doubled);
  return owned < 0 ? doubled : doubled < 0 ? owned : std::min(owned, doubled);
}

} // namespace bitpact::diff
