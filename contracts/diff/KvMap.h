// KvMap.h - the logical keys and values behind the pages of a cache
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_KVMAP_H
#define BITPACT_DIFF_KVMAP_H

#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::diff {

/// Positions [start, end) of a sequence, and the identity of what the block
/// holds. The page it lies on is not kept.
struct KvBlock {
  int64_t start = 0, end = 0;
  std::string content;
  /// Of the weights that wrote it; empty: those of the map.
  std::string weights;
  bool operator==(const KvBlock &) const = default;
};

struct KvMap {
  /// Without a cache, keys and values are those of the sequence's own tokens.
  bool cached = false;
  /// How `content` is made. "tokens": by blockContent(); else an engine's own
  /// scheme, whose identities can only be compared with each other.
  std::string identity, weights;
  /// By their start.
  std::vector<KvBlock> blocks;
  bool operator==(const KvMap &) const = default;
};

/// SHA-256 of the previous block's 32 bytes (none for the first) and of the
/// block's tokens as 64-bit little-endian integers.
std::string blockContent(const std::string &previous, const int64_t *tokens,
                         int64_t count);

/// Where each position's keys and values come from: `source` is "own" for the
/// sequence's own tokens up to there, else the content of a block; `weights`
/// is "of the run" or the digest of others.
struct KvRun {
  int64_t start = 0, end = 0;
  std::string source, weights;
  bool own() const { return source == "own"; }
};

/// One run for each block, over [0, count). `tokens` may be null if they are
/// not listed: then no block is known to be the sequence's own. `problem` is
/// set to what keeps the blocks from covering every position once.
std::vector<KvRun> runsOf(const KvMap &map, const std::vector<int64_t> *tokens,
                          int64_t count, const std::string &runWeights,
                          std::string &problem);

struct KvComparison {
  /// The first position whose keys and values differ, or -1.
  int64_t position = -1;
  std::string a, b;
  /// Why it cannot be decided; empty if it can.
  std::string undecided;
};

/// Pages and the cut into blocks may differ where the identities allow it.
/// `tokensKnown`: both lists of runs were made with the tokens.
KvComparison compareKv(const KvMap &a, const std::vector<KvRun> &runsA,
                       const KvMap &b, const std::vector<KvRun> &runsB,
                       bool tokensKnown);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_KVMAP_H
