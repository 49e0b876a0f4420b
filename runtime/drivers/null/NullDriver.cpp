// NullDriver.cpp - a device that runs nothing: the skeleton of a driver
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// It shows what every function owes its caller. `null` has no architecture, so no
// variant ever matches it. `null:cuda:sm_90a:132` has that one and so many
// multiprocessors: which variant such a device would take can be asked anywhere.
// Neither launches anything, and no launch can be mistaken for one that ran.
#include "runtime/drivers/Driver.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace bitpact::drivers {

using runtime::fail;

namespace {

class NullCode : public Code {
public:
  NullCode(const std::string &device, const std::string &variant)
      : device(device), variant(variant) {}
  // A real driver starts the loaded entry.
  void launch(const Work &) override {
    fail(BITPACT_MISSING_DEVICE, "device '{}' runs nothing, so not '{}'",
         device, variant);
  }

private:
  std::string device, variant;
};

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
    if (!variant.library.empty())
      fail(BITPACT_MISSING_LIBRARY, "device '{}' has no library, so not '{}'",
           name, variant.id);
    return std::make_shared<NullCode>(name, variant.id);
  }

  // A real driver asks whether the stream is being captured.
  Route route(void *) override { return Route::Eager; }

  void *allocate(uint64_t bytes) override {
    void *data = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
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

// KIND:ARCH, and perhaps :UNITS.
bool describe(const std::string &argument, NullDevice &device) {
  size_t colon = argument.find(':');
  if (colon == std::string::npos)
    return false;
  std::string kind = argument.substr(0, colon),
              arch = argument.substr(colon + 1);
  bool known = false;
  for (package::TargetKind one :
       {package::TargetKind::Cpu, package::TargetKind::Cuda,
        package::TargetKind::Hip})
    if (kind == package::name(one)) {
      device.kind = one;
      known = true;
    }
  if (size_t at = arch.find(':'); at != std::string::npos) {
    const char *end = arch.data() + arch.size();
    auto [after, error] =
        std::from_chars(arch.data() + at + 1, end, device.units);
    known &= error == std::errc() && after == end && device.units > 0;
    arch.resize(at);
  }
  device.archs = {arch};
  return known && !arch.empty();
}

} // namespace

std::shared_ptr<Device> openNull(const std::string &argument) {
  auto device = std::make_shared<NullDevice>();
  if (argument.empty())
    return device;
  device->name = "null:" + argument;
  if (!describe(argument, *device))
    fail(BITPACT_MISSING_DEVICE,
         "device 'null:{}': there is only 'null', and 'null:KIND:ARCH:UNITS', "
         "as null:cuda:sm_90a:132",
         argument);
  return device;
}

} // namespace bitpact::drivers
