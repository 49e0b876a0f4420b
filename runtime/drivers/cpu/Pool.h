// Pool.h - threads that share out the programs of a launch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_CPU_POOL_H
#define BITPACT_RUNTIME_DRIVERS_CPU_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bitpact::drivers {

// Persistent threads; the caller works too. Which thread runs which programs
// never changes a bit, because a program depends on its index alone.
class Pool {
public:
  using Body = void (*)(const void *context, int64_t begin, int64_t end);

  // The caller counts as one thread. In the child of a fork the other threads
  // do not exist, and neither they nor what they wait on may be destroyed: the
  // pool is given up there.
  static std::shared_ptr<Pool> make(unsigned threads);
  Pool(const Pool &) = delete;

  unsigned threads() const { return unsigned(workers.size()) + 1; }

  // Calls body over [0, count) in pieces, of which each thread has some in the
  // mean; returns when all are done. A second launch at the same time, or one in the child of a fork, runs in its caller.
  void run(Body body, const void *context, int64_t count,
           unsigned piecesEach = 4);
  static void runAlone(Body body, const void *context, int64_t count);

private:
  explicit Pool(unsigned threads);
  ~Pool();

  struct Job {
    Body body;
    const void *context;
    int64_t count, pieces;
    std::atomic<int64_t> next{0};
  };
  static void work(Job &job);
  void serve();

  const uint32_t madeAtFork;
  std::mutex oneJob;
  std::mutex mutex; // guards the rest
  std::condition_variable wake, done;
  Job *job = nullptr;
  uint64_t epoch = 0;
  unsigned running = 0;
  bool stop = false;
  std::vector<std::thread> workers;
};

} // namespace bitpact::drivers

#endif // BITPACT_RUNTIME_DRIVERS_CPU_POOL_H
