// GpuDriver.h - what the drivers of CUDA and HIP have in common
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two interfaces have the same functions under other names. A driver is a
// struct `Gpu` that names its Api (with the members used here), its constants,
// and how a device is attached to a thread.
#ifndef BITPACT_RUNTIME_DRIVERS_GPUDRIVER_H
#define BITPACT_RUNTIME_DRIVERS_GPUDRIVER_H

#include "runtime/drivers/Driver.h"

#include <array>
#include <limits>

namespace bitpact::drivers {

// A function of a driver library, found at run time.
template <typename> struct Entry;
template <typename R, typename... Parameters> struct Entry<R(Parameters...)> {
  const char *symbol;
  R (*function)(Parameters...) = nullptr;
  R operator()(Parameters... parameters) const {
    return function(parameters...);
  }
};

// A device that was opened. It goes when the last device and the last code
// that needs it are gone.
template <typename Gpu> struct Opened {
  explicit Opened(int ordinal) : api(Gpu::Api::get()), ordinal(ordinal) {
    int count = 0;
    auto counted = api.deviceCount(&count);
    if (counted != Gpu::errorNoDevice)
      api.check(counted, api.deviceCount.symbol);
    if (ordinal >= count)
      runtime::fail(BITPACT_MISSING_DEVICE,
                    "device '{}:{}' does not exist; the driver sees {} {} "
                    "device{}",
                    Gpu::name, ordinal, count, Gpu::title,
                    count == 1 ? "" : "s");
    api.call(api.deviceGet, &device, ordinal);
    hold.attach(api, device);
  }
  ~Opened() {
    if (!forked())
      hold.detach(api, device);
  }
  Opened(const Opened &) = delete;

  bool forked() const { return madeAtFork != runtime::forkCount(); }
  void checkFork() const {
    if (forked())
      runtime::fail(BITPACT_FORKED,
                    "device '{}:{}' was opened before a fork; {} does not "
                    "survive one, so open it in the child",
                    Gpu::name, ordinal, Gpu::title);
  }

  const typename Gpu::Api &api;
  const int ordinal;
  const uint32_t madeAtFork = runtime::forkCount();
  int device = 0;
  typename Gpu::Hold hold;
};

template <typename Gpu> class GpuCode : public Code {
public:
  using Current = typename Gpu::Current;

  GpuCode(std::shared_ptr<Opened<Gpu>> opened, const package::Variant &variant,
          const std::string &bytes)
      : opened(std::move(opened)), api(this->opened->api) {
    const std::string &file = variant.code.file;
    // A driver may also take text, and compile it to other code than was
    // verified.
    if (bytes.compare(0, 4,
                      "\x7f"
                      "ELF") != 0)
      runtime::fail(BITPACT_BAD_PACKAGE, "{}: is not {} (no ELF header)", file,
                    Gpu::object);
    Current current(*this->opened);
    api.check(api.moduleLoad(&module, bytes.data()), file.c_str());
    try {
      addStep(variant, variant.entry, variant.launch);
      for (const package::Step &step : variant.then)
        addStep(variant, step.entry, step.launch);
    } catch (...) {
      (void)api.moduleUnload(module);
      throw;
    }
  }

  ~GpuCode() override {
    if (opened->forked())
      return;
    try {
      Current current(*opened);
      (void)api.moduleUnload(module);
    } catch (const runtime::Failure &failure) {
      runtime::log(failure.what());
    }
  }

  void launch(const Work &work) override {
    const auto &[function, threads, programsPerCta, shared, overlaps] =
        steps[work.step];
    int64_t ctas = (work.programs - 1) / programsPerCta + 1;
    if (ctas > Gpu::mostThreads / int64_t(threads) ||
        ctas > std::numeric_limits<int32_t>::max())
      runtime::fail(BITPACT_INVALID_ARGUMENT,
                    "launch: {} CTAs are needed, at most {} are allowed", ctas,
                    std::min<int64_t>(Gpu::mostThreads / int64_t(threads),
                                      std::numeric_limits<int32_t>::max()));
    if (work.parts > package::maxParts)
      runtime::fail(BITPACT_INVALID_ARGUMENT,
                    "launch: {} parts are needed, at most {} are allowed",
                    work.parts, package::maxParts);
    std::array<void *, package::maxArguments> parameters;
    for (size_t i = 0; i < work.slotCount; ++i)
      parameters[i] = const_cast<uint64_t *>(work.slots + i);
    Current current(*opened); // which describing a tensor needs as well
    std::array<typename Gpu::TensorMap, package::maxTensorMaps> maps;
    for (size_t i = 0; i < work.mapCount; ++i) {
      Gpu::describe(api, work.maps[i], maps[i]);
      parameters[work.maps[i].slot] = &maps[i];
    }
    auto stream = static_cast<typename Gpu::Api::Stream>(work.stream);
    if (overlaps && work.mayOverlap && Gpu::launchOverlapping(
                        api, function, unsigned(ctas), unsigned(work.parts),
                        threads, shared, stream, parameters.data()))
      return;
    api.call(api.launch, function, unsigned(ctas), unsigned(work.parts), 1,
             threads, 1, 1, shared, stream, parameters.data(), nullptr);
  }

private:
  struct Step {
    typename Gpu::Api::Function function = nullptr;
    unsigned threads = 1;
    int64_t programsPerCta = 1;
    unsigned shared = 0;
    bool overlaps = false;
  };

  void addStep(const package::Variant &variant, const std::string &entry,
               const package::Launch &launch) {
    Step step{nullptr, unsigned(launch.threads), launch.programsPerCta,
              unsigned(launch.sharedBytes), launch.overlaps};
    api.check(api.moduleFunction(&step.function, module, entry.c_str()),
              (variant.code.file + ": entry '" + entry + "'").c_str());
    checkLimits(variant, step);
    steps.push_back(step);
  }

  void checkLimits(const package::Variant &variant, const Step &step) {
    const auto &[function, threads, programsPerCta, shared, overlaps] = step;
    int most = 0, fixed = 0, limit = 0;
    api.call(api.functionAttribute, &most, Gpu::functionMaxThreads, function);
    if (int64_t(threads) > most)
      runtime::fail(BITPACT_BAD_PACKAGE,
                    "variant '{}': launch.threads is {}, its code allows {}",
                    variant.id, threads, most);
    api.call(api.functionAttribute, &fixed, Gpu::functionStaticShared,
             function);
    api.call(api.deviceAttribute, &limit, Gpu::attributeShared, opened->device);
    if (int64_t(shared) + fixed > limit)
      runtime::fail(
          BITPACT_BAD_PACKAGE,
          "variant '{}': {} + {} bytes of shared memory, the device has {}",
          variant.id, shared, fixed, limit);
    if (shared)
      Gpu::allowShared(api, function, int(shared));
  }

  std::shared_ptr<Opened<Gpu>> opened;
  const typename Gpu::Api &api;
  typename Gpu::Api::Module module = nullptr;
  std::vector<Step> steps;
};

template <typename Gpu> class GpuDevice : public Device {
public:
  using Api = typename Gpu::Api;
  using Current = typename Gpu::Current;
  using Stream = typename Api::Stream;
  using Event = typename Api::Event;
  using Pointer = typename Api::Pointer;

  explicit GpuDevice(int ordinal)
      : opened(std::make_shared<Opened<Gpu>>(ordinal)), api(opened->api) {
    kind = Gpu::kind;
    name = fmt::format("{}:{}", Gpu::name, ordinal);
    dlDevice = {Gpu::memory, ordinal};
    char text[256] = {};
    api.call(api.deviceName, text, int(sizeof text - 1), opened->device);
    description = text;
    archs = Gpu::archsOf(api, opened->device);
    int units = 0;
    api.call(api.deviceAttribute, &units, Gpu::attributeUnits, opened->device);
    this->units = uint32_t(units);
  }

  bool reaches(DLDevice where) const override {
    return (where.device_type == Gpu::memory ||
            where.device_type == Gpu::managedMemory) &&
           where.device_id == opened->ordinal;
  }

  std::shared_ptr<Code> load(const package::Variant &variant,
                             const std::string &bytes) override {
    if (!variant.library.empty())
      return Gpu::loadLibrary(opened, variant, bytes, description);
    return std::make_shared<GpuCode<Gpu>>(opened, variant, bytes);
  }

  // The default stream is never captured, and asking would end a capture in
  // another stream.
  Route route(void *stream) override {
    opened->checkFork();
    int capturing = 0;
    if (stream) {
      Current current(*opened);
      api.call(api.streamCapturing, static_cast<Stream>(stream), &capturing);
    }
    return capturing ? Route::Capture : Route::Eager;
  }

  void checkFork() const override { opened->checkFork(); }

  void *allocate(uint64_t bytes) override {
    Current current(*opened);
    Pointer data = {};
    api.call(api.allocate, &data, bytes ? bytes : 1);
    return (void *)data;
  }
  void release(void *data) override {
    Current current(*opened);
    api.call(api.release, pointer(data));
  }
  void copyIn(void *to, const void *from, uint64_t bytes) override {
    Current current(*opened);
    api.call(api.copyIn, pointer(to), from, bytes);
  }
  void copyOut(void *to, const void *from, uint64_t bytes) override {
    Current current(*opened);
    api.call(api.copyOut, to, pointer(from), bytes);
  }
  void copy(void *to, const void *from, uint64_t bytes, void *stream) override {
    Current current(*opened);
    api.call(api.copy, pointer(to), pointer(from), bytes,
             static_cast<Stream>(stream));
  }
  void fill(void *to, uint8_t value, uint64_t bytes, void *stream) override {
    Current current(*opened);
    api.call(api.fill, pointer(to), value, bytes, static_cast<Stream>(stream));
  }
  void synchronize() override {
    Current current(*opened);
    api.call(api.synchronize);
  }
  void *createStream() override {
    Current current(*opened);
    Stream stream = nullptr;
    // Not ordered with the default stream.
    api.call(api.streamCreate, &stream, 1u);
    return stream;
  }
  void destroyStream(void *stream) override {
    Current current(*opened);
    api.call(api.streamDestroy, static_cast<Stream>(stream));
  }
  void *createEvent() override {
    Current current(*opened);
    Event event = nullptr;
    api.call(api.eventCreate, &event, 0u);
    return event;
  }
  void recordEvent(void *event, void *stream) override {
    Current current(*opened);
    api.call(api.eventRecord, static_cast<Event>(event),
             static_cast<Stream>(stream));
  }
  double elapsed(void *from, void *to) override {
    Current current(*opened);
    float milliseconds = 0;
    api.call(api.eventSynchronize, static_cast<Event>(to));
    api.call(api.eventElapsed, &milliseconds, static_cast<Event>(from),
             static_cast<Event>(to));
    return milliseconds;
  }
  void destroyEvent(void *event) override {
    Current current(*opened);
    (void)api.eventDestroy(static_cast<Event>(event));
  }

private:
  static Pointer pointer(const void *data) { return (Pointer)data; }

  std::shared_ptr<Opened<Gpu>> opened;
  const Api &api;
};

} // namespace bitpact::drivers

#endif // BITPACT_RUNTIME_DRIVERS_GPUDRIVER_H
