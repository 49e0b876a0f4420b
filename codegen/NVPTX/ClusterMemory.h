// ClusterMemory.h - barriers of a CTA, and what others have brought to it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_CLUSTERMEMORY_H
#define BITPACT_CODEGEN_NVPTX_CLUSTERMEMORY_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitpact::codegen {

/// A phase ends when nobody and no byte is missing.
struct ClusterBarrier {
  int64_t count = 0, pending = 0, bytes = 0, phases = 0;
  bool isShared = false; ///< other CTAs came to it
  void settle() {
    if (pending || bytes)
      return;
    ++phases;
    pending = count;
  }
};

/// Shared memory of a CTA, in words. Whatever is wrong is said in words, else
/// nothing.
class ClusterMemory {
public:
  std::map<int64_t, ClusterBarrier> barriers;

  /// Bytes from `first` on, which the thread of that number of some CTA brings,
  /// the `time`-th time.
  std::string bring(int64_t first, int64_t bytes, int64_t thread, int time);
  /// What that thread takes, the `time`-th time. A thread that `brings` nothing
  /// has no rows, and takes anything.
  std::string take(int64_t first, int64_t bytes, int64_t thread, int time,
                   bool brings);
  /// What must not be left in the end.
  std::string left() const;

private:
  static constexpr int64_t kWord = 4, kBarrier = 8, kBytes = 256 * 1024;
  struct Word {
    int thread = -1, time = 0;             ///< who brought it when
    bool isTaken = false, isEarly = false; ///< taken before anything was there
  };
  std::vector<Word> words = std::vector<Word>(size_t(kBytes / kWord));
};

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_CLUSTERMEMORY_H
