// LogprobSplit.h - the total log-prob difference, split at its interfaces
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_LOGPROBSPLIT_H
#define BITPACT_EVIDENCE_LOGPROBSPLIT_H

#include "contracts/diff/RunRecords.h"
#include "tools/evidence/ExactSum.h"
#include "tools/evidence/SpillSort.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::evidence {

/// training - prefill, prefill - decode, decode - recorded; a role that no
/// record has is left out and its neighbours meet. The terms add up to the
/// total, exactly.
struct SplitTerm {
  diff::LogprobRole from{}, to{};
  uint64_t nonzero = 0;
  ExactDifference largest{0, 0};
  std::string largestSequence;
  int64_t largestPosition = -1;
  ExactSum sum, magnitudes;
  std::string name() const;
};

struct TokenSplit {
  std::string sequence;
  int64_t position;
  /// Of each term, then of the total.
  std::vector<ExactDifference> differences;
};

struct LogprobSplit {
  std::vector<diff::LogprobRole> roles;
  std::vector<SplitTerm> terms;
  SplitTerm total;
  /// With every role that the split has.
  uint64_t tokens = 0;
  /// Infinite or NaN, left out of the sums; and those of them that differ.
  uint64_t notFinite = 0, notFiniteDiffering = 0;
  /// exp(total) above 1 + high, below 1 - low.
  uint64_t clippedHigh = 0, clippedLow = 0;
  std::string firstClipped;
  /// Tokens that lack a role, by role; several values for one role.
  uint64_t missing[4] = {};
  std::string firstMissing;
  std::vector<std::string> contradictions;

  bool any() const { return roles.size() > 1; }
  bool differs() const;
};

class LogprobSplitter {
public:
  explicit LogprobSplitter(size_t chunk) : sorter(chunk) {}
  /// `sequence` is a number that stands for the record's sequence.
  void add(const diff::LogprobRecord &record, uint32_t sequence);

  struct Clip {
    double low, high;
  };
  using EachToken = std::function<void(const TokenSplit &)>;
  LogprobSplit finish(const std::vector<std::string> &sequences,
                      const std::optional<Clip> &clip,
                      const EachToken &each = nullptr);

private:
  struct Packed {
    int64_t position;
    uint64_t bits;
    uint32_t sequence;
    diff::LogprobRole role;
    uint8_t format;
    bool operator<(const Packed &other) const {
      return std::tie(sequence, position, role, format, bits) <
             std::tie(other.sequence, other.position, other.role, other.format,
                      other.bits);
    }
  };
  SpillSort<Packed> sorter;
  bool seen[4] = {};
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_LOGPROBSPLIT_H
