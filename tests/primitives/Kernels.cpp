// Kernels.cpp - every kernel of a primitive's contract, on blocks of inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/primitives/Kernels.h"

#include <algorithm>
#include <cstring>

namespace bitpact::primitives {

using namespace evidence;

Kernels::Kernels(const Package &package, const ContractSpec &toRun,
                 const Device &onDevice, size_t mostInputs)
    : contract(toRun), device(onDevice), first(device, mostInputs * 4),
      second(device, mostInputs * 4), result(device, mostInputs * 4) {
  for (const VariantSpec *variant : package.variantsOf(contract)) {
    if (!device.runs(*variant))
      continue;
    kernels.emplace_back(package, device, contract.digest,
                         variant->roles.front(), variant->id);
    kernels.back().prepare({{"rows", static_cast<int64_t>(mostInputs)}});
    names.push_back(variant->id);
  }
}

void Kernels::place(std::span<const uint32_t> inputs, float value) {
  first.upload(inputs.data(), inputs.size_bytes());
  bool same = seconds.size() >= inputs.size() &&
              std::memcmp(&seconds.front(), &value, sizeof value) == 0;
  if (same || contract.tensors.size() == 2)
    return;
  seconds.assign(inputs.size(), value);
  second.upload(seconds.data(), inputs.size_bytes());
}

void Kernels::launch(size_t kernel, std::span<uint32_t> results) {
  auto rows = static_cast<int64_t>(results.size());
  result.fill(0x5a);
  std::vector<View> views;
  Buffer *inputs[] = {&first, &second};
  for (const TensorSpec &tensor : contract.tensors)
    if (tensor.output)
      views.emplace_back(tensor, device, result.data(),
                         std::vector<int64_t>{rows}, std::vector<int64_t>{1});
    else
      views.emplace_back(tensor, device, inputs[views.size()]->data(),
                         std::vector<int64_t>{rows, 1},
                         std::vector<int64_t>{1, 1});
  kernels[kernel].launch(views);
  result.download(results.data(), results.size_bytes());
}

} // namespace bitpact::primitives
