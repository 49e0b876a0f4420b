// Driver.h - what a device driver does for the runtime
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new driver implements Device and Code, and gets a line in Registry.cpp.
// drivers/null is the shortest one that is complete.
#ifndef BITPACT_RUNTIME_DRIVERS_DRIVER_H
#define BITPACT_RUNTIME_DRIVERS_DRIVER_H

#include "runtime/core/Error.h"
#include "runtime/package/Format.h"

#include <memory>
#include <string>
#include <vector>

namespace bitpact::drivers {

// How a launch reached the device; the integers stand in records.
enum class Route : uint32_t { Eager = 0, Capture = 1, Replay = 2 };

// A matrix that a copy unit is to know, and which slot gets its description.
struct MapWork {
  size_t slot;
  uint64_t data;
  package::ElementType type;
  int64_t rows, cols, pitch; // the pitch in bytes
  uint32_t rank;             // 3: a stack of so many, so many bytes apart
  int64_t count, apart;
  package::Box box;
};

// What one launch hands to a loaded entry.
struct Work {
  const uint64_t *slots;
  size_t slotCount;
  int64_t programs; // at least 1
  int64_t bytes;    // of all tensors, a hint
  void *stream;
  size_t step = 0;   // which of the variant's entries
  int64_t parts = 1; // programs that share the rows of one
  const MapWork *maps = nullptr;
  size_t mapCount = 0;
  bool mayOverlap = true; // where the step does at all
};

// The loaded entries of one variant. Of several, each finds what the one
// before it wrote. launch() allocates nothing, waits for
// nothing that the device's work does not need, and may run in several threads
// at once.
class Code {
public:
  virtual ~Code() = default;
  // Everything that must be done once, outside of launches.
  virtual void prepare() {}
  virtual void launch(const Work &work) = 0;
};

class Device {
public:
  virtual ~Device() = default;

  std::string name;        // cuda:0
  std::string description; // NVIDIA H200
  package::TargetKind kind = package::TargetKind::Cpu;
  std::vector<std::string> archs; // what it runs, best first
  uint32_t units = 1;
  DLDevice dlDevice = {kDLCPU, 0};

  // May a kernel of this device use a tensor that lies there?
  virtual bool reaches(DLDevice where) const = 0;

  // `bytes` were verified and are what runs.
  virtual std::shared_ptr<Code> load(const package::Variant &variant,
                                     const std::string &bytes) = 0;

  virtual Route route(void *stream) = 0;

  // Throws BITPACT_FORKED if the driver does not survive the fork that made
  // this process.
  virtual void checkFork() const {}

  virtual void *allocate(uint64_t bytes) = 0;
  virtual void release(void *data) = 0;
  virtual void copyIn(void *to, const void *from, uint64_t bytes) = 0;
  virtual void copyOut(void *to, const void *from, uint64_t bytes) = 0;
  virtual void copy(void *to, const void *from, uint64_t bytes,
                    void *stream) = 0;
  virtual void fill(void *to, uint8_t value, uint64_t bytes, void *stream) = 0;
  virtual void synchronize() = 0;
  virtual void *createStream() = 0;
  virtual void destroyStream(void *stream) = 0;
  virtual void *createEvent() = 0;
  virtual void recordEvent(void *event, void *stream) = 0;
  virtual double elapsed(void *from, void *to) = 0; // milliseconds
  virtual void destroyEvent(void *event) = 0;
};

// "cpu", "cpu:LEVEL", "cuda:N", "hip:N". Throws BITPACT_MISSING_DEVICE.
std::shared_ptr<Device> openDevice(const std::string &name, uint32_t threads);

// The drivers. `argument` is what follows the colon, "" if there is none.
std::shared_ptr<Device> openCpu(const std::string &argument, uint32_t threads);
std::shared_ptr<Device> openCuda(const std::string &argument);
std::shared_ptr<Device> openHip(const std::string &argument);
std::shared_ptr<Device> openNull(const std::string &argument);

// The ordinal in "cuda:1".
int parseOrdinal(const std::string &argument, const std::string &kind);

} // namespace bitpact::drivers

#endif // BITPACT_RUNTIME_DRIVERS_DRIVER_H
