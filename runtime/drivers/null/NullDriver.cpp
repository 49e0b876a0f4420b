// NullDriver.cpp - a device that runs nothing: the skeleton of a driver
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// It shows what every function owes its caller. It has no architecture, so no
// variant ever matches it and no launch can be mistaken for one that ran.
#include "runtime/drivers/Driver.h"

#include <cstdlib>
#include <cstring>

namespace bitpact::drivers {

using runtime::fail;

namespace {

// Memory is the host's; the one stream is NULL and always idle.
class NullDevice : public Device {
public:
  NullDevice() {
    name = "null";
    description = "runs nothing";
    // A real driver names its target kind and lists what the device runs.
    kind = package::TargetKind::Cpu;
    archs = {};
  }

  bool reaches(DLDevice where) const override {
    return where.device_type == kDLCPU;
  }

  // A real driver hands `bytes` to its loader, finds `variant.entry`, and
  // refuses launch geometry beyond the device's limits here, not at launch.
  std::shared_ptr<Code> load(const package::Variant &variant,
                             const std::string &) override {
    fail(BITPACT_MISSING_VARIANT, "device 'null' runs nothing, so not '{}'",
         variant.id);
  }

  // A real driver asks whether the stream is being captured.
  Route route(void *) override { return Route::Eager; }

  void *allocate(uint64_t bytes) override {
    void *data = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (!data)
      fail(BITPACT_OUT_OF_MEMORY, "device 'null': {} bytes cannot be allocated",
           bytes);
    return data;
  }
  void release(void *data) override { std::free(data); }
  void copyIn(void *to, const void *from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copyOut(void *to, const void *from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy(void *to, const void *from, uint64_t bytes, void *) override {
    std::memmove(to, from, bytes);
  }
  void fill(void *to, uint8_t value, uint64_t bytes, void *) override {
    std::memset(to, value, bytes);
  }
  void synchronize() override {}
  void *createStream() override { return nullptr; }
  void destroyStream(void *) override {}
  void *createEvent() override { return nullptr; }
  void recordEvent(void *, void *) override {}
  double elapsed(void *, void *) override { return 0; }
  void destroyEvent(void *) override {}
};

} // namespace

std::shared_ptr<Device> openNull(const std::string &argument) {
  if (!argument.empty())
    fail(BITPACT_MISSING_DEVICE, "device 'null:{}': there is only 'null'",
         argument);
  return std::make_shared<NullDevice>();
}

} // namespace bitpact::drivers
