// CpuDriver.cpp - the host as a device
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/Driver.h"
#include "runtime/drivers/cpu/Isa.h"
#include "runtime/drivers/cpu/Module.h"
#include "runtime/drivers/cpu/OpenBlas.h"
#include "runtime/drivers/cpu/Pool.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace bitpact::drivers {

using runtime::fail;

namespace {

using Entry = void (*)(const uint64_t *slots, int64_t begin, int64_t end);
using Clock = std::chrono::steady_clock;

// Below this much data, waking threads takes longer than the work.
constexpr int64_t threadedBytes = int64_t(128) << 10;

// Several pieces a thread even out what the threads find. Tiles are long work,
// and those at an edge are short.
constexpr unsigned rowPieces = 4, tilePieces = 32;

class CpuCode : public Code {
public:
  CpuCode(std::shared_ptr<Pool> pool, const package::Variant &variant,
          const std::string &bytes)
      : pool(std::move(pool)),
        piecesEach(variant.launch.tiles.empty() ? rowPieces : tilePieces),
        module(bytes, variant.code.file) {
    entries.push_back(reinterpret_cast<Entry>(module.symbol(variant.entry)));
    for (const package::Step &step : variant.then)
      entries.push_back(reinterpret_cast<Entry>(module.symbol(step.entry)));
  }

  void launch(const Work &work) override {
    struct Call {
      Entry entry;
      const Work &work;
    } call{entries[work.step], work};
    if (work.bytes < threadedBytes)
      pool->runAlone(body<Call>, &call, work.programs * work.parts);
    else
      pool->run(body<Call>, &call, work.programs * work.parts, piecesEach);
  }

private:
  template <typename Call>
  static void body(const void *context, int64_t begin, int64_t end) {
    const Call &call = *static_cast<const Call *>(context);
    call.entry(call.work.slots, begin, end);
  }

  std::shared_ptr<Pool> pool;
  unsigned piecesEach;
  Module module;
  std::vector<Entry> entries;
};

// Work is done when a call returns, so the only stream is NULL.
class CpuDevice : public Device {
public:
  CpuDevice(const std::string &level, uint32_t threads) {
    kind = package::TargetKind::Cpu;
    name = level.empty() ? "cpu" : "cpu:" + level;
    description = hostDescription();
    archs = hostLevels();
    if (!level.empty()) {
      if (std::find(archs.begin(), archs.end(), level) == archs.end())
        fail(BITPACT_MISSING_DEVICE,
             "device '{}': this processor does not run '{}'; it runs {}", name,
             level, fmt::join(archs, ", "));
      archs = {level};
    }
    if (threads == 0)
      threads = std::max(1u, std::thread::hardware_concurrency());
    pool = Pool::make(std::min(threads, 1024u));
    units = pool->threads();
  }

  bool reaches(DLDevice where) const override {
    return where.device_type == kDLCPU || where.device_type == kDLCUDAHost ||
           where.device_type == kDLROCMHost;
  }

  std::shared_ptr<Code> load(const package::Variant &variant,
                             const std::string &bytes) override {
    if (!variant.library.empty())
      return openblas::makeCode(variant, bytes);
    return std::make_shared<CpuCode>(pool, variant, bytes);
  }

  Route route(void *stream) override {
    checkStream(stream);
    return Route::Eager;
  }

  void *allocate(uint64_t bytes) override {
    void *data = bytes > (uint64_t(1) << 62)
                     ? nullptr
                     : std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (!data)
      fail(BITPACT_OUT_OF_MEMORY, "device '{}': {} bytes cannot be allocated",
           name, bytes);
    return data;
  }
  void release(void *data) override { std::free(data); }
  void copyIn(void *to, const void *from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copyOut(void *to, const void *from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy(void *to, const void *from, uint64_t bytes, void *stream) override {
    checkStream(stream);
    std::memmove(to, from, bytes);
  }
  void fill(void *to, uint8_t value, uint64_t bytes, void *stream) override {
    checkStream(stream);
    std::memset(to, value, bytes);
  }
  void synchronize() override {}
  void *createStream() override { return nullptr; }
  void destroyStream(void *stream) override { checkStream(stream); }
  void *createEvent() override { return new Clock::time_point(); }
  void recordEvent(void *event, void *stream) override {
    checkStream(stream);
    *static_cast<Clock::time_point *>(event) = Clock::now();
  }
  double elapsed(void *from, void *to) override {
    return std::chrono::duration<double, std::milli>(
               *static_cast<Clock::time_point *>(to) -
               *static_cast<Clock::time_point *>(from))
        .count();
  }
  void destroyEvent(void *event) override {
    delete static_cast<Clock::time_point *>(event);
  }

private:
  void checkStream(void *stream) const {
    if (stream)
      fail(BITPACT_INVALID_ARGUMENT,
           "stream: is not NULL, the only stream of device '{}'", name);
  }

  std::shared_ptr<Pool> pool;
};

} // namespace

std::shared_ptr<Device> openCpu(const std::string &argument, uint32_t threads) {
  return std::make_shared<CpuDevice>(argument, threads);
}

} // namespace bitpact::drivers
