// Pool.cpp - threads that share out the programs of a launch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cpu/Pool.h"

#include "runtime/core/Error.h"

#include <algorithm>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bitpact::drivers {

namespace {

// Round to nearest even, subnormals kept, no traps: what contracts are
// written for, whatever the thread was set to before.
class FloatEnvironment {
public:
#if defined(__x86_64__)
  FloatEnvironment() : saved(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FloatEnvironment() { _mm_setcsr(saved); }

private:
  unsigned saved;
#elif defined(__aarch64__)
  FloatEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(saved));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t(0)));
  }
  ~FloatEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved)); }

private:
  uint64_t saved;
#endif
};

} // namespace

std::shared_ptr<Pool> Pool::make(unsigned threads) {
  return std::shared_ptr<Pool>(new Pool(threads), [](Pool *pool) {
    if (pool->madeAtFork == runtime::forkCount())
      delete pool;
  });
}

Pool::Pool(unsigned threads) : madeAtFork(runtime::forkCount()) {
  try {
    for (unsigned i = 1; i < threads; ++i)
      workers.emplace_back([this] { serve(); });
  } catch (const std::system_error &error) {
    // Fewer threads give the same bits.
    runtime::log(fmt::format("cpu: {} threads instead of {}: {}",
                             workers.size() + 1, threads, error.what()));
  }
}

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void Pool::work(Job &job) {
  FloatEnvironment environment;
  auto at = [&](int64_t piece) {
    return int64_t(__int128(job.count) * piece / job.pieces);
  };
  for (int64_t piece; (piece = job.next.fetch_add(1)) < job.pieces;)
    job.body(job.context, at(piece), at(piece + 1));
}

void Pool::serve() {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stop || (job && epoch != seen); });
    if (stop)
      return;
    seen = epoch;
    Job &mine = *job;
    ++running;
    lock.unlock();
    work(mine);
    lock.lock();
    if (--running == 0)
      done.notify_one();
  }
}

void Pool::runAlone(Body body, const void *context, int64_t count) {
  FloatEnvironment environment;
  body(context, 0, count);
}

void Pool::run(Body body, const void *context, int64_t count,
               unsigned piecesEach) {
  bool alone = count == 1 || madeAtFork != runtime::forkCount() ||
               workers.empty() || !oneJob.try_lock();
  if (alone)
    return runAlone(body, context, count);
  std::lock_guard<std::mutex> busy(oneJob, std::adopt_lock);
  // Several pieces a thread even out what the threads find.
  Job mine{body, context, count,
           std::min<int64_t>(count, int64_t(piecesEach) * threads())};
  {
    std::lock_guard<std::mutex> lock(mutex);
    job = &mine;
    ++epoch;
  }
  wake.notify_all();
  work(mine);
  std::unique_lock<std::mutex> lock(mutex);
  // Threads that have not woken up yet find no job and are not waited for.
  job = nullptr;
  done.wait(lock, [&] { return running == 0; });
}

} // namespace bitpact::drivers
