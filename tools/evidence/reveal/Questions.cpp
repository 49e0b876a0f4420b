// Questions.cpp - queries in batches, counted; and what has no answer
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Questions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace bitpact::reveal {
namespace {

/// Elements of one batch at most: 64 MiB of f32.
constexpr int64_t batchElements = int64_t(1) << 24;
constexpr int64_t batchRows = 8192;
/// Queries that are asked twice, one or two of each batch.
constexpr size_t mostKept = 256;

} // namespace

std::vector<double> Questions::ask(const std::vector<Query> &queries) {
  std::vector<double> results;
  results.reserve(queries.size());
  auto slice = static_cast<size_t>(std::clamp<int64_t>(
      batchElements / std::max<int64_t>(n(), 1), 1, batchRows));
  for (size_t begin = 0; begin < queries.size(); begin += slice) {
    size_t end = std::min(queries.size(), begin + slice);
    std::vector<double> some = box.run(
        std::vector<Query>(queries.begin() + begin, queries.begin() + end));
    if (some.size() != end - begin)
      throw std::logic_error("a black box lost results");
    for (size_t at : {begin, (begin + end) / 2})
      if (at < end && kept.size() < mostKept)
        kept.emplace_back(queries[at], some[at - begin]);
    results.insert(results.end(), some.begin(), some.end());
    rowCount += static_cast<int64_t>(some.size());
    ++batchCount;
    if (report)
      report(fmt::format("{}, {} rows", phase, rowCount), rowCount, 0);
  }
  return results;
}

void Questions::askAgain() {
  std::vector<Query> queries;
  for (const auto &[query, result] : kept)
    queries.push_back(query);
  std::vector<std::pair<Query, double>> before = std::move(kept);
  std::vector<double> again = ask(queries);
  for (size_t i = 0; i < before.size(); ++i)
    if (std::bit_cast<uint64_t>(again[i]) !=
            std::bit_cast<uint64_t>(before[i].second) &&
        !(std::isnan(again[i]) && std::isnan(before[i].second)))
      throw Undetermined(
          fmt::format("the same row gave {:.17g} and then {:.17g}: it is not "
                      "deterministic, and has no one tree",
                      before[i].second, again[i]));
}

} // namespace bitpact::reveal
