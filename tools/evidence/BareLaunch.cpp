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

/// One kernel of a launch.
struct Call {
  std::string entry;
  int64_t programs, parts; // programs that share the rows of one
  unsigned threads, shared;
  int64_t programsPerCta;
};

/// The slots of a launch, what they point to, and the kernels that take them.
struct Calls {
  std::vector<uint64_t> slots;
  Buffer workspace, fault;
  std::vector<Call> list;
};

/// Blocks of a dim; of pieces of it, as many as there can be.
int64_t tilesOf(const json &tile, const Dims &dims) {
  int64_t extent = dims.at(tile.at("dim")), length = tile.at("length");
  if (tile.contains("segments")) {
    int64_t offsets = dims.at(tile.at("segments"));
    return (extent + std::min(extent, std::max<int64_t>(offsets - 1, 1)) *
                         (length - 1)) /
           length;
  }
  return (extent - 1) / length + 1;
}

/// Where the launch says how many CTAs a multiprocessor has, no more than are
/// there at one time (docs/packages.md).
int64_t programsOf(const json &launch, const Dims &dims, const Device &device) {
  int64_t programs = 1;
  if (launch.contains("tiles")) {
    for (const json &tile : launch.at("tiles"))
      programs *= tilesOf(tile, dims);
    int64_t each = launch.value("ctas_per_program", int64_t(1)),
            units = each < 4 ? device.units : device.units - device.units / 8,
            ofUnit = launch.value("ctas_per_unit", int64_t(0));
    if (ofUnit)
      programs =
          std::min(programs, std::max(units * ofUnit / each, int64_t(1)));
    return programs * each;
  }
  for (const json &dim : launch.at("parallel_dims"))
    programs *= dims.at(dim);
  return (programs - 1) / launch.at("rows_per_program").get<int64_t>() + 1;
}

int64_t partsOf(const json &launch, const Dims &dims) {
  if (!launch.contains("split"))
    return 1;
  const json &split = launch.at("split");
  std::string dim = split.at("dim");
  int64_t length = split.at("length");
  if (dim.empty())
    return length;
  int64_t extent = dims.at(dim) - split.at("less").get<int64_t>();
  return extent / length + (extent % length > 0);
}

/// False, and why, where the driver alone has no such launch.
bool callsOf(Calls &calls, const Package &package, const VariantSpec &variant,
             const Device &device, const ContractSpec &contract,
             const Dims &dims, const std::vector<View> &tensors,
             uint64_t workspaceBytes, std::string &why) {
  // The package was verified when it was opened.
  json manifest = json::parse(contentsOf(package.path() + "/manifest.json"));
  const json &entry = manifest.at("variants").at(variant.index);
  if (entry.contains("library")) {
    why = "a library launches it";
    return false;
  }
  auto viewOf = [&](const json &argument) -> const View & {
    std::string name = argument.at("tensor");
    size_t at = 0;
    while (contract.tensors.at(at).name != name)
      ++at;
    return tensors.at(at);
  };
  for (const json &argument : entry.at("arguments")) {
    std::string kind = argument.at("kind");
    uint64_t value = 0; // also of a tensor that nobody calls steady
    if (kind == "pointer") {
      value = reinterpret_cast<uint64_t>(viewOf(argument).fields.data);
    } else if (kind == "stride") {
      const View &view = viewOf(argument);
      size_t axis = argument.at("axis");
      value = view.shape[axis] > 1 ? uint64_t(view.strides[axis]) : 0;
    } else if (kind == "dim") {
      value = uint64_t(dims.at(argument.at("dim")));
    } else if (kind == "workspace") {
      calls.workspace = Buffer(device, workspaceBytes);
      value = reinterpret_cast<uint64_t>(calls.workspace.data());
    } else if (kind == "fault") {
      calls.fault = Buffer(device, sizeof(uint32_t));
      calls.fault.fill(0);
      value = reinterpret_cast<uint64_t>(calls.fault.data());
    } else if (kind == "tensor_map") {
      why = "its tensors are described to the copy unit anew for every launch";
      return false;
    }
    calls.slots.push_back(value);
  }
  auto add = [&](const json &step) {
    const json &launch = step.at("launch");
    Call call{step.at("entry"),          programsOf(launch, dims, device),
              partsOf(launch, dims),     launch.at("threads"),
              launch.at("shared_bytes"), launch.at("programs_per_cta")};
    if (call.programs * call.parts > 0)
      calls.list.push_back(std::move(call));
  };
  add(entry);
  if (entry.contains("then"))
    for (const json &step : entry.at("then"))
      add(step);
  return true;
}

class CpuCall final : public BareLaunch {
public:
  CpuCall(const std::string &file, Calls given)
      : calls(std::move(given)), library(dlopen(file.c_str(), RTLD_NOW)) {
    for (const Call &call : calls.list)
      if (void *entry = library ? dlsym(library, call.entry.c_str()) : nullptr)
        entries.push_back(reinterpret_cast<Entry>(entry));
  }
  ~CpuCall() override {
    if (library)
      dlclose(library);
  }
  bool isGood() const { return entries.size() == calls.list.size(); }
  bool operator()() override {
    for (size_t i = 0; i < entries.size(); ++i)
      entries[i](calls.slots.data(), 0,
                 calls.list[i].programs * calls.list[i].parts);
    return true;
  }

private:
  using Entry = void (*)(const uint64_t *, int64_t, int64_t);
  Calls calls;
  void *library;
  std::vector<Entry> entries;
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
  CudaLaunch(const std::string &code, int ordinal, Calls given)
      : calls(std::move(given)) {
    for (uint64_t &value : calls.slots)
      parameters.push_back(&value);
    good = cuda.open() && !cuda.init(0) && !cuda.deviceGet(&device, ordinal) &&
           !cuda.retain(&context, device);
    good = good && !cuda.getCurrent(&before) && !cuda.setCurrent(context) &&
           !cuda.load(&module, code.data());
    for (const Call &call : calls.list) {
      void *function = nullptr;
      good = good && !cuda.function(&function, module, call.entry.c_str()) &&
             !(call.shared && cuda.setAttribute(function, 8, int(call.shared)));
      functions.push_back(function);
    }
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
    for (size_t i = 0; i < functions.size(); ++i) {
      const Call &call = calls.list[i];
      unsigned ctas = unsigned((call.programs - 1) / call.programsPerCta + 1);
      if (cuda.launch(functions[i], ctas, unsigned(call.parts), 1, call.threads,
                      1, 1, call.shared, nullptr, parameters.data(), nullptr))
        return false;
    }
    return true;
  }

private:
  Calls calls;
  Cuda cuda;
  std::vector<void *> parameters, functions;
  int device = 0;
  void *context = nullptr, *before = nullptr, *module = nullptr;
  bool good = false;
};

} // namespace

std::unique_ptr<BareLaunch>
BareLaunch::make(const Package &package, const VariantSpec &variant,
                 const Device &device, const ContractSpec &contract,
                 const Dims &dims, const std::vector<View> &tensors,
                 uint64_t workspaceBytes, std::string &why) {
  Calls calls;
  if (!callsOf(calls, package, variant, device, contract, dims, tensors,
               workspaceBytes, why))
    return nullptr;
  std::string file = package.path() + "/" + variant.codeFile;
  if (device.kind == BITPACT_TARGET_CPU) {
    // A name without a slash would be looked for on the loader's path.
    std::string path = file.front() == '/' ? file : "./" + file;
    auto call = std::make_unique<CpuCall>(path, std::move(calls));
    if (call->isGood())
      return call;
    why = "its code cannot be loaded by itself";
    return nullptr;
  }
  if (device.kind == BITPACT_TARGET_CUDA) {
    auto launch = std::make_unique<CudaLaunch>(
        contentsOf(file), device.dlDevice.device_id, std::move(calls));
    if (launch->isGood())
      return launch;
    why = "the driver does not take its code";
    return nullptr;
  }
  why = "there is no launch without the runtime for this kind of device";
  return nullptr;
}

} // namespace bitpact::evidence
