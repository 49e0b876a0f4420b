// Record.cpp - a bounded queue of records, drained as JSON lines
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Record.h"

#include "runtime/drivers/Driver.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

namespace bitpact::runtime {

namespace {

// Vyukov's bounded queue: a cell's turn says whether it is free for the
// writer at that position or holds a record for the reader at it.
struct Cell {
  std::atomic<uint64_t> turn;
  Record record;
};

struct Ring {
  explicit Ring(uint64_t capacity)
      : mask(capacity - 1), cells(new Cell[capacity]) {
    for (uint64_t i = 0; i < capacity; ++i)
      cells[i].turn.store(i, std::memory_order_relaxed);
  }

  bool push(const Record &record) noexcept {
    uint64_t at = tail.load(std::memory_order_relaxed);
    while (true) {
      Cell &cell = cells[at & mask];
      int64_t ahead = int64_t(cell.turn.load(std::memory_order_acquire) - at);
      if (ahead < 0)
        return false;
      if (ahead > 0) {
        at = tail.load(std::memory_order_relaxed);
      } else if (tail.compare_exchange_weak(at, at + 1,
                                            std::memory_order_relaxed)) {
        cell.record = record;
        cell.turn.store(at + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // One reader at a time.
  bool pop(Record &record) noexcept {
    Cell &cell = cells[head & mask];
    if (cell.turn.load(std::memory_order_acquire) != head + 1)
      return false;
    record = cell.record;
    cell.turn.store(head + mask + 1, std::memory_order_release);
    ++head;
    return true;
  }

  const uint64_t mask;
  std::unique_ptr<Cell[]> cells;
  std::atomic<uint64_t> tail{0};
  uint64_t head = 0;
};

} // namespace

static std::mutex mutex; // guards what follows, up to `ring`
static uint64_t wantedCapacity = 16384;
static std::deque<Description> descriptions;

// Set once and never freed: launches may outlast static destruction.
static std::atomic<Ring *> ring{nullptr};
static std::atomic<uint64_t> sequence{0}, dropped{0};
static std::mutex drainMutex;
static uint64_t droppedBefore = 0; // at the last drain

uint32_t describe(const Description &description) {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < descriptions.size(); ++i)
    if (descriptions[i] == description)
      return uint32_t(i);
  descriptions.push_back(description);
  return uint32_t(descriptions.size() - 1);
}

void configureRecords(uint32_t capacity) {
  std::lock_guard<std::mutex> lock(mutex);
  if (ring)
    fail(BITPACT_BAD_STATE, "records: the capacity must be set before the "
                            "first device is opened");
  if (capacity == 0 || capacity > (1u << 24))
    fail(BITPACT_INVALID_ARGUMENT,
         "records: capacity is {}, must be from 1 to {}", capacity, 1u << 24);
  wantedCapacity = 2; // the least that the queue works with
  while (wantedCapacity < capacity)
    wantedCapacity *= 2;
}

void startRecords() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!ring)
    ring = new Ring(wantedCapacity);
}

void writeRecord(Record &record) noexcept {
  record.sequence = sequence.fetch_add(1, std::memory_order_relaxed);
  record.dropped = dropped.load(std::memory_order_relaxed);
  if (!ring.load(std::memory_order_acquire)->push(record))
    dropped.fetch_add(1, std::memory_order_relaxed);
}

static const char *nameOf(uint32_t route) {
  switch (drivers::Route(route)) {
  case drivers::Route::Eager:
    return "eager";
  case drivers::Route::Capture:
    return "capture";
  case drivers::Route::Replay:
    return "replay";
  }
  return "?";
}

static std::string lineOf(const Record &record) {
  Description about;
  {
    std::lock_guard<std::mutex> lock(mutex);
    about = descriptions[record.description];
  }
  nlohmann::json dims = nlohmann::json::object();
  for (size_t i = 0; i < about.dims.size(); ++i)
    dims[about.dims[i]] = record.dims[i];
  nlohmann::json line = {{"bitpact_record", 1},
                         {"sequence", record.sequence},
                         {"contract", about.contract},
                         {"name", about.contractName},
                         {"op", about.op},
                         {"variant", about.variant},
                         {"code", about.code},
                         {"target", about.target},
                         {"device", about.device},
                         {"role", about.role},
                         {"dims", dims},
                         {"route", nameOf(record.route)},
                         {"site", record.site},
                         {"dropped", record.dropped}};
  return package::canonicalText(line);
}

uint64_t drainRecords(bitpact_record_fn line, void *context) {
  std::lock_guard<std::mutex> lock(drainMutex);
  Ring *from = ring;
  if (from) {
    // A callback that launches must not keep the drain going for ever.
    uint64_t end = from->tail.load(std::memory_order_acquire);
    Record record;
    while (from->head < end && from->pop(record))
      line(context, lineOf(record).c_str());
  }
  uint64_t now = dropped.load(), before = droppedBefore;
  droppedBefore = now;
  return now - before;
}

} // namespace bitpact::runtime
