// Fault.cpp - the word in which kernels report indices that are not there
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"

namespace bitpact::runtime {

FaultWord::~FaultWord() {
  if (!data)
    return;
  try {
    device->checkFork();
    device->release(data);
  } catch (const Failure &failure) {
    log(failure.what());
  }
}

void FaultWord::allocate() {
  std::lock_guard<std::mutex> lock(mutex);
  if (data)
    return;
  void *word = device->allocate(sizeof(uint32_t));
  const uint32_t none = 0;
  try {
    device->copyIn(word, &none, sizeof none);
  } catch (...) {
    device->release(word);
    throw;
  }
  data.store(word, std::memory_order_release);
}

uint32_t FaultWord::take() {
  std::lock_guard<std::mutex> lock(mutex);
  device->checkFork();
  if (!data)
    return 0;
  uint32_t found = 0;
  const uint32_t none = 0;
  device->synchronize();
  device->copyOut(&found, data, sizeof found);
  if (found)
    device->copyIn(data, &none, sizeof none);
  return found;
}

} // namespace bitpact::runtime
