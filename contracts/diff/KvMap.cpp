// KvMap.cpp - the logical keys and values behind the pages of a cache
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/KvMap.h"

#include "contracts/algebra/CanonicalJson.h"

#include <algorithm>
#include <fmt/format.h>

namespace bitpact::diff {

std::string blockContent(const std::string &previous, const int64_t *tokens,
                         int64_t count) {
  std::string bytes;
  for (size_t i = 0; i + 1 < previous.size(); i += 2)
    bytes += char(std::stoi(previous.substr(i, 2), nullptr, 16));
  for (int64_t t = 0; t < count; ++t)
    for (int i = 0; i < 8; ++i)
      bytes += char(uint64_t(tokens[t]) >> (8 * i));
  return algebra::sha256Hex(bytes);
}

std::vector<KvRun> runsOf(const KvMap &map, const std::vector<int64_t> *tokens,
                          int64_t count, const std::string &runWeights,
                          std::string &problem) {
  if (!map.cached)
    return count ? std::vector<KvRun>{{0, count, "own", "of the run"}}
                 : std::vector<KvRun>{};
  std::vector<KvRun> runs;
  int64_t covered = 0;
  std::string previous;
  for (const KvBlock &block : map.blocks) {
    if (block.start != covered) {
      problem = block.start > covered
                    ? fmt::format("position {} is in no block", covered)
                    : fmt::format("position {} is in two blocks", block.start);
      return {};
    }
    if (block.end > count) {
      problem = fmt::format("a block ends at {}, there are {} tokens",
                            block.end, count);
      return {};
    }
    KvRun run{block.start, block.end, block.content,
              block.weights.empty() ? map.weights : block.weights};
    // Weights that the gate has compared already are no second difference.
    if (run.weights == runWeights)
      run.weights = "of the run";
    if (map.identity == "tokens" && tokens) {
      previous = blockContent(previous, tokens->data() + block.start,
                              block.end - block.start);
      if (block.content == previous)
        run.source = "own";
    }
    runs.push_back(std::move(run));
    covered = block.end;
  }
  if (covered != count)
    problem = fmt::format("position {} is in no block", covered);
  return runs;
}

KvComparison compareKv(const KvMap &a, const std::vector<KvRun> &runsA,
                       const KvMap &b, const std::vector<KvRun> &runsB,
                       bool tokensKnown) {
  auto describe = [](const KvRun &run, int64_t position) {
    return fmt::format("{}, weights {:.12}",
                       run.own()
                           ? "the sequence's own tokens"
                           : fmt::format("block {:.16} offset {}", run.source,
                                         position - run.start),
                       run.weights);
  };
  KvComparison result;
  for (size_t i = 0, j = 0; i < runsA.size() && j < runsB.size();) {
    const KvRun &x = runsA[i], &y = runsB[j];
    int64_t from = std::max(x.start, y.start), to = std::min(x.end, y.end);
    bool sameCut = x.start == y.start && x.end == y.end;
    // Identities made from tokens name another content when they differ;
    // those of a scheme of its own do so only against the same scheme.
    bool tokensBoth = tokensKnown && (!a.cached || a.identity == "tokens") &&
                      (!b.cached || b.identity == "tokens");
    bool decided =
        (x.own() && y.own()) || (x.own() != y.own() && tokensBoth) ||
        (!x.own() && !y.own() && a.identity == b.identity && sameCut);
    bool same = x.source == y.source && x.weights == y.weights;
    if (decided && !same) {
      result.position = from;
      result.a = describe(x, from);
      result.b = describe(y, from);
      return result;
    }
    if (!decided && result.undecided.empty())
      result.undecided = fmt::format(
          "from position {} on, {} in A and {} in B cannot be compared: {}",
          from, describe(x, from), describe(y, from),
          x.own() != y.own() || a.identity != b.identity
              ? "one identity is not made from the tokens, or these are not "
                "listed"
              : "the blocks are cut elsewhere");
    i += x.end == to;
    j += y.end == to;
  }
  return result;
}

} // namespace bitpact::diff
