// BareLaunch.cpp - the same function, started by the driver and nothing between
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/BareLaunch.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

using nlohmann::json;

namespace bitpact::evidence {
namespace {

std::string contentsOf(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The slots of a launch and what they point to.
struct Slots {
  std::vector<uint64_t> values;
  Buffer workspace, fault;
  int64_t programs = 1; // -1: several calls, or programs that share rows
};

Slots slotsOf(const Package &package, const VariantSpec &variant,
              const Device &device, const ContractSpec &contract,
              const Dims &dims, const std::vector<View> &tensors,
              uint64_t workspaceBytes) {
  // The package was verified when it was opened.
  json manifest = json::parse(contentsOf(package.path() + "/manifest.json"));
  const json &entry = manifest.at("variants").at(variant.index);
  Slots slots;
  auto viewOf = [&](const json &argument) -> const View & {
    std::string name = argument.at("tensor");
    size_t at = 0;
    while (contract.tensors.at(at).name != name)
      ++at;
    return tensors.at(at);
  };
  for (const json &argument : entry.at("arguments")) {
    std::string kind = argument.at("kind");
    uint64_t value = 0;
    if (kind == "pointer") {
      value = reinterpret_cast<uint64_t>(viewOf(argument).fields.data);
    } else if (kind == "stride") {
      const View &view = viewOf(argument);
      size_t axis = argument.at("axis");
      value = view.shape[axis] > 1 ? uint64_t(view.strides[axis]) : 0;
    } else if (kind == "dim") {
      value = uint64_t(dims.at(argument.at("dim")));
    } else if (kind == "workspace") {
      slots.workspace = Buffer(device, workspaceBytes);
      value = reinterpret_cast<uint64_t>(slots.workspace.data());
    } else {
      slots.fault = Buffer(device, sizeof(uint32_t));
      slots.fault.fill(0);
      value = reinterpret_cast<uint64_t>(slots.fault.data());
    }
    slots.values.push_back(value);
  }
  for (const json &dim : entry.at("launch").at("parallel_dims"))
    slots.programs *= dims.at(dim);
  slots.programs = (slots.programs - 1) / variant.rowsPerProgram + 1;
  if (entry.contains("then") || entry.at("launch").contains("split"))
    slots.programs = -1;
  return slots;
}

class CpuCall final : public BareLaunch {
public:
  CpuCall(const std::string &file, const std::string &symbol, Slots given)
      : slots(std::move(given)), library(dlopen(file.c_str(), RTLD_NOW)),
        entry(library ? reinterpret_cast<Entry>(dlsym(library, symbol.c_str()))
                      : nullptr) {}
  ~CpuCall() override {
    if (library)
      dlclose(library);
  }
  bool isGood() const { return entry; }
  bool operator()() override {
    entry(slots.values.data(), 0, slots.programs);
    return true;
  }

private:
  using Entry = void (*)(const uint64_t *, int64_t, int64_t);
  Slots slots;
  void *library;
  Entry entry;
};

/// Of cuda.h, what a launch needs.
struct Cuda {
  int (*init)(unsigned) = nullptr;
  int (*deviceGet)(int *, int) = nullptr;
  int (*retain)(void **, int) = nullptr;
  int (*release)(int) = nullptr;
  int (*setCurrent)(void *) = nullptr;
  int (*getCurrent)(void **) = nullptr;
  int (*load)(void **, const void *) = nullptr;
  int (*unload)(void *) = nullptr;
  int (*function)(void **, void *, const char *) = nullptr;
  int (*setAttribute)(void *, int, int) = nullptr;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, void *, void **, void **) = nullptr;

  bool open() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    auto find = [&](auto &pointer, const char *name) {
      pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(
          library ? dlsym(library, name) : nullptr);
      return pointer != nullptr;
    };
    return find(init, "cuInit") && find(deviceGet, "cuDeviceGet") &&
           find(retain, "cuDevicePrimaryCtxRetain") &&
           find(release, "cuDevicePrimaryCtxRelease_v2") &&
           find(setCurrent, "cuCtxSetCurrent") &&
           find(getCurrent, "cuCtxGetCurrent") &&
           find(load, "cuModuleLoadData") && find(unload, "cuModuleUnload") &&
           find(function, "cuModuleGetFunction") &&
           find(setAttribute, "cuFuncSetAttribute") &&
           find(launch, "cuLaunchKernel");
  }
};

/// The context stays current in this thread, as it is in a program that uses
/// the driver alone; the runtime's launches find it current as well.
class CudaLaunch final : public BareLaunch {
public:
  CudaLaunch(const std::string &code, const VariantSpec &variant, int ordinal,
             Slots given)
      : slots(std::move(given)),
        ctas(unsigned((slots.programs - 1) / variant.programsPerCta + 1)),
        threads(unsigned(variant.threads)),
        shared(unsigned(variant.sharedBytes)) {
    for (uint64_t &value : slots.values)
      parameters.push_back(&value);
    good = cuda.open() && !cuda.init(0) && !cuda.deviceGet(&device, ordinal) &&
           !cuda.retain(&context, device);
    good = good && !cuda.getCurrent(&before) && !cuda.setCurrent(context) &&
           !cuda.load(&module, code.data()) &&
           !cuda.function(&function, module, variant.entry.c_str()) &&
           !(shared && cuda.setAttribute(function, 8, int(shared)));
  }
  ~CudaLaunch() override {
    if (module)
      cuda.unload(module);
    if (context) {
      cuda.setCurrent(before);
      cuda.release(device);
    }
  }
  bool isGood() const { return good; }
  bool operator()() override {
    return !cuda.launch(function, ctas, 1, 1, threads, 1, 1, shared, nullptr,
                        parameters.data(), nullptr);
  }

private:
  Slots slots;
  Cuda cuda;
  unsigned ctas, threads, shared;
  std::vector<void *> parameters;
  int device = 0;
  void *context = nullptr, *before = nullptr, *module = nullptr,
       *function = nullptr;
  bool good = false;
};

} // namespace

std::unique_ptr<BareLaunch>
BareLaunch::make(const Package &package, const VariantSpec &variant,
                 const Device &device, const ContractSpec &contract,
                 const Dims &dims, const std::vector<View> &tensors,
                 uint64_t workspaceBytes, std::string &why) {
  Slots slots = slotsOf(package, variant, device, contract, dims, tensors,
                        workspaceBytes);
  std::string file = package.path() + "/" + variant.codeFile;
  if (slots.programs < 0) {
    why = "a launch of it is more than one call";
    return nullptr;
  }
  if (device.kind == BITPACT_TARGET_CPU) {
    // A name without a slash would be looked for on the loader's path.
    std::string path = file.front() == '/' ? file : "./" + file;
    auto call =
        std::make_unique<CpuCall>(path, variant.entry, std::move(slots));
    if (call->isGood())
      return call;
    why = "its code cannot be loaded by itself";
    return nullptr;
  }
  if (device.kind == BITPACT_TARGET_CUDA) {
    auto launch = std::make_unique<CudaLaunch>(
        contentsOf(file), variant, device.dlDevice.device_id, std::move(slots));
    if (launch->isGood())
      return launch;
    why = "the driver does not take its code";
    return nullptr;
  }
  why = "there is no launch without the runtime for this kind of device";
  return nullptr;
}

} // namespace bitpact::evidence
