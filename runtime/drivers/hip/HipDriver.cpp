// HipDriver.cpp - an AMD GPU as a device
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/hip/HipApi.h"

namespace bitpact::drivers {
namespace {

struct Hip {
  using Api = hip::Api;
  static constexpr package::TargetKind kind = package::TargetKind::Hip;
  static constexpr const char *name = "hip", *title = "HIP",
                              *object = "an hsaco";
  static constexpr DLDeviceType memory = kDLROCM, managedMemory = kDLROCM;
  static constexpr int errorNoDevice = hip::errorNoDevice,
                       functionMaxThreads = hip::functionMaxThreads,
                       functionStaticShared = hip::functionStaticShared,
                       attributeShared = hip::attributeShared,
                       attributeUnits = hip::attributeMultiprocessors;
  // Of a launch: its packet holds 32 bits.
  static constexpr int64_t mostThreads = std::numeric_limits<uint32_t>::max();

  // A device needs no context to be kept.
  struct Hold {
    void attach(const Api &, int) {}
    void detach(const Api &, int) {}
  };

  // Makes the device the thread's, and puts back what was.
  class Current {
  public:
    explicit Current(const Opened<Hip> &opened) : api(opened.api) {
      opened.checkFork();
      api.call(api.deviceCurrent, &before);
      changed = before != opened.device;
      if (changed)
        api.call(api.deviceSet, opened.device);
    }
    ~Current() {
      if (changed)
        (void)api.deviceSet(before);
    }
    Current(const Current &) = delete;

  private:
    const Api &api;
    int before = 0;
    bool changed = false;
  };

  // Only code made for exactly this device. It is made for any setting of
  // xnack and sramecc, which follow the first colon.
  static std::vector<std::string> archsOf(const Api &api, int device) {
    std::string name = api.archName(device);
    return {name.substr(0, name.find(':'))};
  }

  // All of the shared memory that a CTA may have needs no asking.
  static void allowShared(const Api &, Api::Function, int) {}

  static bool launchOverlapping(const Api &, Api::Function, unsigned, unsigned,
                                unsigned, unsigned, Api::Stream, void **) {
    return false;
  }

  // verify() admits neither libraries nor tensor maps for this target.
  static std::shared_ptr<Code> loadLibrary(const std::shared_ptr<Opened<Hip>> &,
                                           const package::Variant &,
                                           const std::string &,
                                           const std::string &) {
    runtime::fail(BITPACT_INTERNAL, "HIP has no libraries");
  }
  struct TensorMap {};
  static void describe(const Api &, const MapWork &, TensorMap &) {
    runtime::fail(BITPACT_INTERNAL, "HIP has no tensor maps");
  }
};

} // namespace

std::shared_ptr<Device> openHip(const std::string &argument) {
  return std::make_shared<GpuDevice<Hip>>(parseOrdinal(argument, "hip"));
}

} // namespace bitpact::drivers
