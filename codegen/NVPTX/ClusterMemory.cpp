// ClusterMemory.cpp - every word is brought, and then taken, once
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ClusterMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace bitpact;
using namespace bitpact::codegen;

template <typename... Args>
static std::string say(const char *format, Args &&...args) {
  return llvm::formatv(format, std::forward<Args>(args)...).str();
}

/// Words arrive at once: whoever takes them is not to depend on it.
std::string ClusterMemory::bring(int64_t first, int64_t bytes, int64_t thread,
                                 int time) {
  for (int64_t at = first; at < first + bytes; at += kWord) {
    if (at < 0 || at >= kBytes)
      return say("{0} is none of its memory", at);
    auto after = barriers.upper_bound(at);
    if (after != barriers.begin() && at - std::prev(after)->first < kBarrier)
      return say("{0} holds a barrier", at);
    Word &word = words[size_t(at / kWord)];
    if (word.isEarly)
      return say("{0} was taken before it was brought", at);
    if (word.thread >= 0 && !word.isTaken)
      return say("{0} was brought before, and not yet taken", at);
    word = {int(thread), time, false, false};
  }
  return {};
}

std::string ClusterMemory::take(int64_t first, int64_t bytes, int64_t thread,
                                int time, bool brings) {
  for (int64_t at = first; at < first + bytes; at += kWord) {
    if (at < 0 || at >= kBytes)
      return say("{0} is none of its memory", at);
    Word &word = words[size_t(at / kWord)];
    if (word.thread < 0) {
      word.isEarly |= brings;
      continue;
    }
    if (word.thread != thread)
      return say("takes {0}, which thread {1} brought for its own", at,
                 word.thread);
    if (word.time != time)
      return say("takes {0} for block {1}, where that for {2} is", at, time,
                 word.time);
    word.isTaken = true;
  }
  return {};
}

std::string ClusterMemory::left() const {
  for (auto &[at, barrier] : barriers)
    if (barrier.bytes || barrier.pending != barrier.count)
      return say("the barrier at {0} is left with {1} of {2} arrivals and {3} "
                 "bytes missing",
                 at, barrier.pending, barrier.count, barrier.bytes);
  for (auto [i, word] : llvm::enumerate(words))
    if (word.thread >= 0 && !word.isTaken)
      return say("{0} was brought and is not taken", int64_t(i) * kWord);
  return {};
}
