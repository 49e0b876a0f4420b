// CudaDriver.cpp - an NVIDIA GPU as a device
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cuda/CublasLt.h"
#include "runtime/drivers/cuda/CudaApi.h"

namespace bitpact::drivers {
namespace {

struct Cuda {
  using Api = cuda::Api;
  static constexpr package::TargetKind kind = package::TargetKind::Cuda;
  static constexpr const char *name = "cuda", *title = "CUDA",
                              *object = "a cubin";
  static constexpr DLDeviceType memory = kDLCUDA,
                                managedMemory = kDLCUDAManaged;
  static constexpr int errorNoDevice = cuda::errorNoDevice,
                       functionMaxThreads = cuda::functionMaxThreads,
                       functionStaticShared = cuda::functionStaticShared,
                       attributeShared = cuda::attributeSharedOptIn,
                       attributeUnits = cuda::attributeMultiprocessors;
  // No bound on the threads of a launch but that on its CTAs.
  static constexpr int64_t mostThreads = std::numeric_limits<int64_t>::max();

  // The device's primary context, which frameworks use too.
  struct Hold {
    void attach(const Api &api, int device) {
      api.call(api.contextRetain, &context, device);
    }
    void detach(const Api &api, int device) {
      (void)api.contextRelease(device);
    }
    cuda::Context context = nullptr;
  };

  // Makes the primary context current where it is not, and puts back what was.
  class Current {
  public:
    explicit Current(const Opened<Cuda> &opened) : api(opened.api) {
      opened.checkFork();
      cuda::Context now = nullptr;
      api.call(api.contextCurrent, &now);
      if (now == opened.hold.context)
        return;
      api.call(api.contextPush, opened.hold.context);
      pushed = true;
    }
    ~Current() {
      cuda::Context popped;
      if (pushed)
        (void)api.contextPop(&popped);
    }
    Current(const Current &) = delete;

  private:
    const Api &api;
    bool pushed = false;
  };

  // Only code made for exactly this device: another architecture is another
  // arithmetic.
  static std::vector<std::string> archsOf(const Api &api, int device) {
    int major = 0, minor = 0;
    api.call(api.deviceAttribute, &major, cuda::attributeMajor, device);
    api.call(api.deviceAttribute, &minor, cuda::attributeMinor, device);
    return {fmt::format("sm_{}{}a", major, minor),
            fmt::format("sm_{}{}", major, minor)};
  }

  static void allowShared(const Api &api, Api::Function function, int bytes) {
    api.call(api.functionSet, function, cuda::functionMaxDynamicShared, bytes);
  }

  // False where the driver cannot: then the launch waits as any other.
  static bool launchOverlapping(const Api &api, Api::Function function,
                                unsigned ctas, unsigned parts, unsigned threads,
                                unsigned shared, Api::Stream stream,
                                void **parameters) {
    if (!api.launchEx.function)
      return false;
    cuda::LaunchAttribute overlaps = {cuda::launchProgrammaticSerialization,
                                      0,
                                      {1}};
    cuda::LaunchConfig config = {{ctas, parts, 1}, {threads, 1, 1}, shared,
                                 stream,           &overlaps,       1};
    api.call(api.launchEx, &config, function, parameters,
             static_cast<void **>(nullptr));
    return true;
  }

  // A library's product, in the device's context.
  class LibraryCode : public Code {
  public:
    LibraryCode(std::shared_ptr<Opened<Cuda>> opened,
                const package::Variant &variant, const std::string &bytes,
                const std::string &description)
        : opened(std::move(opened)) {
      Current current(*this->opened);
      code = cublaslt::makeCode(variant, bytes, description);
    }
    ~LibraryCode() override {
      if (opened->forked()) {
        (void)code.release();
        return;
      }
      Current current(*opened);
      code.reset();
    }
    void launch(const Work &work) override {
      Current current(*opened);
      code->launch(work);
    }

  private:
    std::shared_ptr<Opened<Cuda>> opened;
    std::unique_ptr<Code> code;
  };
  static std::shared_ptr<Code> loadLibrary(std::shared_ptr<Opened<Cuda>> opened,
                                           const package::Variant &variant,
                                           const std::string &bytes,
                                           const std::string &description) {
    return std::make_shared<LibraryCode>(std::move(opened), variant, bytes,
                                         description);
  }

  using TensorMap = cuda::TensorMap;
  static void describe(const Api &api, const MapWork &work, TensorMap &map) {
    if (!api.encodeTiled.function)
      runtime::fail(BITPACT_DRIVER_ERROR,
                    "libcuda.so.1 has no {}; the driver is too old for this "
                    "variant",
                    api.encodeTiled.symbol);
    uint64_t extents[] = {uint64_t(work.cols), uint64_t(work.rows),
                          uint64_t(work.count)};
    uint64_t pitch[] = {uint64_t(work.pitch), uint64_t(work.apart)};
    uint32_t box[] = {uint32_t(work.box.cols), uint32_t(work.box.rows), 1};
    uint32_t steps[] = {1, 1, 1};
    api.call(api.encodeTiled, &map, cuda::tensorMapType(work.type), work.rank,
             reinterpret_cast<void *>(work.data), extents, pitch, box, steps,
             cuda::tensorMapPlain, cuda::tensorMapSwizzle(work.box.swizzle),
             cuda::tensorMapPromotion(work.box.promotion),
             cuda::tensorMapZeroFill);
  }
};

} // namespace

std::shared_ptr<Device> openCuda(const std::string &argument) {
  return std::make_shared<GpuDevice<Cuda>>(parseOrdinal(argument, "cuda"));
}

} // namespace bitpact::drivers
