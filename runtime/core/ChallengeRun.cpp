// ChallengeRun.cpp - a pinned library repeats what it was admitted for
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"
#include "runtime/package/Pin.h"

namespace bitpact::runtime {

namespace {

class DeviceMemory {
public:
  DeviceMemory(drivers::Device &device, uint64_t bytes)
      : device(device), data(device.allocate(bytes)) {}
  ~DeviceMemory() {
    try {
      device.release(data);
    } catch (const Failure &failure) {
      log(failure.what());
    }
  }
  DeviceMemory(const DeviceMemory &) = delete;

  drivers::Device &device;
  void *const data;
};

} // namespace

void challenge(const Kernel &kernel, const Candidate &candidate,
               const package::Pin &pin) {
  drivers::Device &device = *kernel.device;
  Bound bound = {};
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    bound.dims[i] = pin.challenge->dims.at(kernel.dims[i].name);
  std::vector<std::unique_ptr<DeviceMemory>> memory;
  std::vector<uint64_t> bytes;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const TensorPlan &tensor = kernel.tensors[i];
    int64_t elements = 1;
    for (uint32_t axis = tensor.rank; axis-- > 0;) {
      int64_t extent = bound.dims[tensor.dims[axis]];
      bound.strides[i][axis] = extent == 1 ? 0 : elements;
      elements *= extent;
    }
    bytes.push_back(uint64_t(elements * tensor.elementBytes));
    bound.bytes += elements * tensor.elementBytes;
    memory.push_back(std::make_unique<DeviceMemory>(device, bytes[i]));
    bound.data[i] = reinterpret_cast<uint64_t>(memory[i]->data);
    std::string data =
        tensor.isOutput ? std::string(bytes[i], char(0xA5))
                        : package::challengeData(pin.challenge->seed, i,
                                                 tensor.type, size_t(elements));
    device.copyIn(memory[i]->data, data.data(), data.size());
  }
  bitpact_launch_args args = {};
  args.workspace_bytes = workspaceBytes(candidate, bound.dims);
  DeviceMemory workspace(device, args.workspace_bytes);
  args.workspace = workspace.data;
  run(kernel, candidate, bound, args);
  device.synchronize();
  std::string outputs;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    if (!kernel.tensors[i].isOutput)
      continue;
    std::string given(bytes[i], '\0');
    device.copyOut(given.data(), memory[i]->data, given.size());
    package::canonicalizeNans(kernel.tensors[i].type, given.data(),
                              given.size() / kernel.tensors[i].elementBytes);
    outputs += given;
  }
  std::string found = package::sha256Hex(outputs);
  if (found != pin.challenge->sha256)
    fail(BITPACT_CHALLENGE_FAILED,
         "variant '{}': {} {} on {} was admitted for outputs with SHA-256 {}, "
         "now they have {}; it does not keep the contract any more",
         kernel.variantOf(candidate).id, pin.library, pin.version, pin.device,
         pin.challenge->sha256, found);
  log(fmt::format("challenged {} on {}", kernel.variantOf(candidate).id,
                  device.name));
}

} // namespace bitpact::runtime
