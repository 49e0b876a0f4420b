// CudaDriver.cpp - an NVIDIA GPU as a device
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/Driver.h"
#include "runtime/drivers/cuda/CudaApi.h"

#include <array>
#include <cstring>
#include <limits>

namespace bitpact::drivers {

using runtime::fail;
using namespace cuda;

namespace {

// The device's primary context, which frameworks use too. It goes when the
// last device and the last code that needs it are gone.
struct Primary {
  explicit Primary(int ordinal) : api(Api::get()), ordinal(ordinal) {
    int count = 0;
    Result counted = api.deviceCount(&count);
    if (counted != errorNoDevice)
      api.check(counted, "cuDeviceGetCount");
    if (ordinal >= count)
      fail(BITPACT_MISSING_DEVICE,
           "device 'cuda:{}' does not exist; the driver sees {} CUDA device{}",
           ordinal, count, count == 1 ? "" : "s");
    api.check(api.deviceGet(&device, ordinal), "cuDeviceGet");
    api.check(api.contextRetain(&context, device), "cuDevicePrimaryCtxRetain");
  }
  ~Primary() {
    if (!forked())
      api.contextRelease(device);
  }
  Primary(const Primary &) = delete;

  bool forked() const { return madeAtFork != runtime::forkCount(); }
  void checkFork() const {
    if (forked())
      fail(BITPACT_FORKED,
           "device 'cuda:{}' was opened before a fork; CUDA does not survive "
           "one, so open it in the child",
           ordinal);
  }

  const Api &api;
  const int ordinal;
  const uint32_t madeAtFork = runtime::forkCount();
  Ordinal device = 0;
  Context context = nullptr;
};

// Makes the primary context current where it is not, and puts back what was.
class Current {
public:
  explicit Current(const Primary &primary) : api(primary.api) {
    primary.checkFork();
    Context now = nullptr;
    api.check(api.contextCurrent(&now), "cuCtxGetCurrent");
    if (now == primary.context)
      return;
    api.check(api.contextPush(primary.context), "cuCtxPushCurrent");
    pushed = true;
  }
  ~Current() {
    Context popped;
    if (pushed)
      api.contextPop(&popped);
  }
  Current(const Current &) = delete;

private:
  const Api &api;
  bool pushed = false;
};

class CudaCode : public Code {
public:
  CudaCode(std::shared_ptr<Primary> primary, const package::Variant &variant,
           const std::string &bytes)
      : primary(std::move(primary)), api(this->primary->api),
        threads(unsigned(variant.launch.threads)),
        programsPerCta(variant.launch.programsPerCta),
        shared(unsigned(variant.launch.sharedBytes)) {
    const std::string &file = variant.code.file;
    // The driver would also take PTX, and compile it to other code than was
    // verified.
    if (bytes.compare(0, 4,
                      "\x7f"
                      "ELF") != 0)
      fail(BITPACT_BAD_PACKAGE, "{}: is not a cubin (no ELF header)", file);
    Current current(*this->primary);
    api.check(api.moduleLoad(&module, bytes.data()), file.c_str());
    try {
      api.check(api.moduleFunction(&function, module, variant.entry.c_str()),
                (file + ": entry '" + variant.entry + "'").c_str());
      checkLimits(variant);
    } catch (...) {
      api.moduleUnload(module);
      throw;
    }
  }

  ~CudaCode() override {
    if (primary->forked())
      return;
    try {
      Current current(*primary);
      api.moduleUnload(module);
    } catch (const runtime::Failure &failure) {
      runtime::log(failure.what());
    }
  }

  void launch(const Work &work) override {
    int64_t ctas = (work.programs - 1) / programsPerCta + 1;
    if (ctas > std::numeric_limits<int32_t>::max())
      fail(BITPACT_INVALID_ARGUMENT,
           "launch: {} CTAs are needed, at most {} are allowed", ctas,
           std::numeric_limits<int32_t>::max());
    std::array<void *, package::maxArguments> parameters;
    for (size_t i = 0; i < work.slotCount; ++i)
      parameters[i] = const_cast<uint64_t *>(work.slots + i);
    Current current(*primary);
    api.check(api.launch(function, unsigned(ctas), 1, 1, threads, 1, 1, shared,
                         static_cast<Stream>(work.stream), parameters.data(),
                         nullptr),
              "cuLaunchKernel");
  }

private:
  void checkLimits(const package::Variant &variant) {
    int most = 0, fixed = 0, optIn = 0;
    api.check(api.functionAttribute(&most, functionMaxThreads, function),
              "cuFuncGetAttribute");
    if (int64_t(threads) > most)
      fail(BITPACT_BAD_PACKAGE,
           "variant '{}': launch.threads is {}, its code allows {}", variant.id,
           threads, most);
    api.check(api.functionAttribute(&fixed, functionStaticShared, function),
              "cuFuncGetAttribute");
    api.check(
        api.deviceAttribute(&optIn, attributeSharedOptIn, primary->device),
        "cuDeviceGetAttribute");
    if (int64_t(shared) + fixed > optIn)
      fail(BITPACT_BAD_PACKAGE,
           "variant '{}': {} + {} bytes of shared memory, the device has {}",
           variant.id, shared, fixed, optIn);
    if (shared)
      api.check(
          api.functionSet(function, functionMaxDynamicShared, int(shared)),
          "cuFuncSetAttribute");
  }

  std::shared_ptr<Primary> primary;
  const Api &api;
  ModuleHandle module = nullptr;
  Function function = nullptr;
  const unsigned threads;
  const int64_t programsPerCta;
  const unsigned shared;
};

class CudaDevice : public Device {
public:
  explicit CudaDevice(int ordinal)
      : primary(std::make_shared<Primary>(ordinal)), api(primary->api) {
    kind = package::TargetKind::Cuda;
    name = fmt::format("cuda:{}", ordinal);
    dlDevice = {kDLCUDA, ordinal};
    char text[256] = {};
    api.check(api.deviceName(text, sizeof text - 1, primary->device),
              "cuDeviceGetName");
    description = text;
    int major = attribute(attributeMajor), minor = attribute(attributeMinor);
    // Only code made for exactly this device: another architecture is another
    // arithmetic.
    archs = {fmt::format("sm_{}{}a", major, minor),
             fmt::format("sm_{}{}", major, minor)};
    units = uint32_t(attribute(attributeMultiprocessors));
  }

  bool reaches(DLDevice where) const override {
    return (where.device_type == kDLCUDA ||
            where.device_type == kDLCUDAManaged) &&
           where.device_id == primary->ordinal;
  }

  std::shared_ptr<Code> load(const package::Variant &variant,
                             const std::string &bytes) override {
    return std::make_shared<CudaCode>(primary, variant, bytes);
  }

  // The default stream is never captured, and asking would end a capture in
  // another stream.
  Route route(void *stream) override {
    primary->checkFork();
    int capturing = 0;
    if (stream) {
      Current current(*primary);
      api.check(api.streamCapturing(static_cast<Stream>(stream), &capturing),
                "cuStreamIsCapturing");
    }
    return capturing ? Route::Capture : Route::Eager;
  }

  void checkFork() const override { primary->checkFork(); }

  void *allocate(uint64_t bytes) override {
    Current current(*primary);
    Pointer data = 0;
    api.check(api.allocate(&data, bytes ? bytes : 1), "cuMemAlloc");
    return reinterpret_cast<void *>(data);
  }
  void release(void *data) override {
    Current current(*primary);
    api.check(api.release(pointer(data)), "cuMemFree");
  }
  void copyIn(void *to, const void *from, uint64_t bytes) override {
    Current current(*primary);
    api.check(api.copyIn(pointer(to), from, bytes), "cuMemcpyHtoD");
  }
  void copyOut(void *to, const void *from, uint64_t bytes) override {
    Current current(*primary);
    api.check(api.copyOut(to, pointer(from), bytes), "cuMemcpyDtoH");
  }
  void copy(void *to, const void *from, uint64_t bytes, void *stream) override {
    Current current(*primary);
    api.check(api.copy(pointer(to), pointer(from), bytes,
                       static_cast<Stream>(stream)),
              "cuMemcpyDtoDAsync");
  }
  void fill(void *to, uint8_t value, uint64_t bytes, void *stream) override {
    Current current(*primary);
    api.check(api.fill(pointer(to), value, bytes, static_cast<Stream>(stream)),
              "cuMemsetD8Async");
  }
  void synchronize() override {
    Current current(*primary);
    api.check(api.contextSynchronize(), "cuCtxSynchronize");
  }
  void *createStream() override {
    Current current(*primary);
    Stream stream = nullptr;
    // Not ordered with the default stream.
    api.check(api.streamCreate(&stream, 1), "cuStreamCreate");
    return stream;
  }
  void destroyStream(void *stream) override {
    Current current(*primary);
    api.check(api.streamDestroy(static_cast<Stream>(stream)),
              "cuStreamDestroy");
  }
  void *createEvent() override {
    Current current(*primary);
    Event event = nullptr;
    api.check(api.eventCreate(&event, 0), "cuEventCreate");
    return event;
  }
  void recordEvent(void *event, void *stream) override {
    Current current(*primary);
    api.check(
        api.eventRecord(static_cast<Event>(event), static_cast<Stream>(stream)),
        "cuEventRecord");
  }
  double elapsed(void *from, void *to) override {
    Current current(*primary);
    float milliseconds = 0;
    api.check(api.eventSynchronize(static_cast<Event>(to)),
              "cuEventSynchronize");
    api.check(api.eventElapsed(&milliseconds, static_cast<Event>(from),
                               static_cast<Event>(to)),
              "cuEventElapsedTime");
    return milliseconds;
  }
  void destroyEvent(void *event) override {
    Current current(*primary);
    api.eventDestroy(static_cast<Event>(event));
  }

private:
  static Pointer pointer(const void *data) {
    return reinterpret_cast<Pointer>(data);
  }
  int attribute(int which) const {
    int value = 0;
    api.check(api.deviceAttribute(&value, which, primary->device),
              "cuDeviceGetAttribute");
    return value;
  }

  std::shared_ptr<Primary> primary;
  const Api &api;
};

} // namespace

std::shared_ptr<Device> openCuda(const std::string &argument) {
  return std::make_shared<CudaDevice>(parseOrdinal(argument, "cuda"));
}

} // namespace bitpact::drivers
