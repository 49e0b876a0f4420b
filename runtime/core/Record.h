// Record.h - one record a launch, in a ring that never blocks
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_CORE_RECORD_H
#define BITPACT_RUNTIME_CORE_RECORD_H

#include "runtime/core/Error.h"
#include "runtime/package/Format.h"

#include <string>
#include <type_traits>
#include <vector>

namespace bitpact::runtime {

// Fixed size: what a launch writes. Names stand in the description.
struct Record {
  uint64_t sequence; // of the launch in this process, drops counted
  uint64_t dropped;  // records lost before this one
  uint64_t site;
  uint32_t description; // index from describe()
  uint32_t route;       // drivers::Route
  int64_t dims[package::maxDims];
};
static_assert(std::is_trivial_v<Record>);

// What all launches of one variant on one device have in common.
struct Description {
  std::string contract, contractName, op, variant, code, target, device, role;
  std::vector<std::string> dims;
  bool operator==(const Description &) const = default;
};

// Keeps it for the life of the process; equal ones share an index.
uint32_t describe(const Description &description);

void configureRecords(uint32_t capacity);
// Allocates the ring, once.
void startRecords();
// Lock-free. A full ring drops the record and counts it.
void writeRecord(Record &record) noexcept;
uint64_t drainRecords(bitpact_record_fn line, void *context);

} // namespace bitpact::runtime

#endif // BITPACT_RUNTIME_CORE_RECORD_H
