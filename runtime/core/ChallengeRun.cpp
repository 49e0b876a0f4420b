// ChallengeRun.cpp - a pinned library repeats what it was admitted for
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"
#include "runtime/package/Pin.h"

#include <algorithm>

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

/// A tensor of which as many elements differ as the challenge says.
void fill(drivers::Device &device, void *to, uint64_t bytes,
          const std::string &data) {
  for (uint64_t at = 0; at < bytes; at += data.size())
    device.copyIn(static_cast<char *>(to) + at, data.data(),
                  std::min<uint64_t>(data.size(), bytes - at));
}

} // namespace

void challenge(const Kernel &kernel, const Candidate &candidate,
               const package::Pin &pin) {
  drivers::Device &device = *kernel.device;
  const int64_t seed = package::challengeSeed(pin);
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
    size_t distinct = size_t(elements);
    if (pin.challenge->elements)
      distinct = std::min(distinct, size_t(pin.challenge->elements));
    fill(device, memory[i]->data, bytes[i],
         tensor.isOutput
             ? std::string(distinct * size_t(tensor.elementBytes), char(0xA5))
             : package::challengeData(seed, i, tensor.type, distinct));
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
    const size_t width = size_t(kernel.tensors[i].elementBytes);
    for (const package::Span &span :
         package::hashedSpans(*pin.challenge, bytes[i] / width)) {
      std::string given(span.count * width, '\0');
      device.copyOut(given.data(),
                     static_cast<char *>(memory[i]->data) + span.first * width,
                     given.size());
      package::canonicalizeNans(kernel.tensors[i].type, given.data(),
                                span.count);
      outputs += given;
    }
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
