// ParallelCopy.h - memcpy on several threads: the peer of CPU kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_PARALLELCOPY_H
#define BITPACT_EVIDENCE_PARALLELCOPY_H

#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

namespace bitpact::evidence {

/// The threads wait between copies, as those of the runtime do; the calling
/// thread copies the first part.
class ParallelCopy {
public:
  explicit ParallelCopy(unsigned threads)
      : count(threads), start(threads), end(threads) {
    for (unsigned index = 1; index < count; ++index)
      workers.emplace_back([this, index] {
        for (;;) {
          start.arrive_and_wait();
          if (!to)
            return;
          part(index);
          end.arrive_and_wait();
        }
      });
  }
  ~ParallelCopy() {
    to = nullptr;
    start.arrive_and_wait();
    for (std::thread &worker : workers)
      worker.join();
  }
  ParallelCopy(const ParallelCopy &) = delete;
  ParallelCopy &operator=(const ParallelCopy &) = delete;

  void operator()(void *destination, const void *source, size_t size) {
    // Waking threads takes longer than a small copy.
    if (size < smallest) {
      std::memcpy(destination, source, size);
      return;
    }
    to = static_cast<char *>(destination);
    from = static_cast<const char *>(source);
    bytes = size;
    start.arrive_and_wait();
    part(0);
    end.arrive_and_wait();
  }

private:
  static constexpr size_t smallest = 256 << 10;
  void part(unsigned index) const {
    size_t first = bytes * index / count, last = bytes * (index + 1) / count;
    std::memcpy(to + first, from + first, last - first);
  }

  unsigned count;
  std::barrier<> start, end;
  std::vector<std::thread> workers;
  char *to = nullptr;
  const char *from = nullptr;
  size_t bytes = 0;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_PARALLELCOPY_H
