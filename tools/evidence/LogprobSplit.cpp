// LogprobSplit.cpp - the total log-prob difference, split at its interfaces
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/LogprobSplit.h"

#include "tools/evidence/Elements.h"

#include <cmath>
#include <fmt/format.h>

using namespace bitpact::diff;

namespace bitpact::evidence {
namespace {

/// A token's values, one for each role that has one.
struct Token {
  double value[4];
  uint64_t bits[4];
  uint8_t format[4];
  bool has[4] = {}, several = false;
};

void addTo(SplitTerm &term, double from, double to,
           const ExactDifference &difference, const std::string &sequence,
           int64_t position) {
  term.nonzero += !difference.isZero();
  term.sum.add(from);
  term.sum.subtract(to);
  term.magnitudes.add(std::max(from, to));
  term.magnitudes.subtract(std::min(from, to));
  if (difference.larger(term.largest)) {
    term.largest = difference;
    term.largestSequence = sequence;
    term.largestPosition = position;
  }
}

} // namespace

std::string SplitTerm::name() const {
  return fmt::format("{} - {}", nameOf(from), nameOf(to));
}

bool LogprobSplit::differs() const {
  if (notFiniteDiffering || !contradictions.empty() || total.nonzero)
    return true;
  for (const SplitTerm &term : terms)
    if (term.nonzero)
      return true;
  return false;
}

void LogprobSplitter::add(const LogprobRecord &record, uint32_t sequence) {
  seen[size_t(record.role)] = true;
  sorter.add({record.position, record.bits, sequence, record.role,
              uint8_t(*algebra::parseFormat(record.dtype))});
}

LogprobSplit LogprobSplitter::finish(const std::vector<std::string> &sequences,
                                     const std::optional<Clip> &clip,
                                     const EachToken &each) {
  LogprobSplit split;
  for (size_t role = 0; role < 4; ++role)
    if (seen[role])
      split.roles.push_back(LogprobRole(role));
  for (size_t i = 0; i + 1 < split.roles.size(); ++i)
    split.terms.emplace_back().from = split.roles[i],
    split.terms.back().to = split.roles[i + 1];
  if (split.any()) {
    split.total.from = split.roles.front();
    split.total.to = split.roles.back();
  }

  auto take = [&](const Token &token, const std::string &sequence,
                  int64_t position) {
    auto place = [&] {
      return fmt::format("sequence {}, position {}", sequence, position);
    };
    bool whole = true, finite = true, same = true;
    const size_t first = size_t(split.roles.front());
    for (LogprobRole wanted : split.roles) {
      size_t role = size_t(wanted);
      if (!token.has[role]) {
        whole = false;
        ++split.missing[role];
        if (split.firstMissing.empty())
          split.firstMissing =
              fmt::format("{} has no {} log-prob", place(), nameOf(wanted));
        continue;
      }
      finite &= bool(std::isfinite(token.value[role]));
      same &= token.bits[role] == token.bits[first] &&
              token.format[role] == token.format[first];
    }
    if (!whole || !split.any())
      return;
    ++split.tokens;
    if (!finite) {
      ++split.notFinite;
      split.notFiniteDiffering += !same;
      return;
    }
    TokenSplit one{sequence, position, {}};
    auto measure = [&](SplitTerm &term) {
      double from = token.value[size_t(term.from)],
             to = token.value[size_t(term.to)];
      ExactDifference difference(from, to);
      addTo(term, from, to, difference, sequence, position);
      one.differences.push_back(difference);
    };
    for (SplitTerm &term : split.terms)
      measure(term);
    measure(split.total);
    const ExactDifference &total = one.differences.back();
    if (clip) {
      bool high = total.high > std::log1p(clip->high),
           low = total.high < std::log1p(-clip->low);
      split.clippedHigh += high;
      split.clippedLow += low;
      if ((high || low) && split.firstClipped.empty())
        split.firstClipped = place();
    }
    if (each)
      each(one);
  };

  sorter.sort();
  Packed item;
  Token token;
  bool open = false;
  uint32_t sequence = 0;
  int64_t position = 0;
  while (sorter.next(item)) {
    if (!open || item.sequence != sequence || item.position != position) {
      if (open)
        take(token, sequences[sequence], position);
      token = {};
      open = true;
      sequence = item.sequence;
      position = item.position;
    }
    size_t role = size_t(item.role);
    auto format = algebra::Format(item.format);
    if (token.has[role]) {
      if ((token.bits[role] != item.bits ||
           token.format[role] != item.format) &&
          split.contradictions.size() < 5)
        split.contradictions.push_back(fmt::format(
            "sequence {}, position {}: two {} log-probs, {} and {}",
            sequences[sequence], position, nameOf(item.role),
            bitsText(algebra::Format(token.format[role]), token.bits[role]),
            bitsText(format, item.bits)));
      continue;
    }
    token.has[role] = true;
    token.bits[role] = item.bits;
    token.format[role] = item.format;
    token.value[role] = decode(format, item.bits);
  }
  if (open)
    take(token, sequences[sequence], position);
  return split;
}

} // namespace bitpact::evidence
