// CudaApi.cpp - finds and starts the CUDA driver
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cuda/CudaApi.h"

#include "runtime/core/Error.h"

#include <dlfcn.h>
#include <mutex>

namespace bitpact::drivers::cuda {

using runtime::fail;

static const char *nameOf(const Api &api, Result result) {
  const char *text = nullptr;
  return api.errorName(result, &text) == 0 && text ? text : "unknown error";
}

int tensorMapType(package::ElementType type) {
  switch (type) {
  case package::ElementType::BF16:
    return 9;
  case package::ElementType::F16:
    return 6;
  case package::ElementType::F32:
    return 7;
  case package::ElementType::F64:
    return 8;
  case package::ElementType::I32:
    return 3;
  case package::ElementType::I64:
    return 5;
  }
  return -1;
}

int tensorMapSwizzle(int64_t bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

int tensorMapPromotion(int64_t bytes) {
  return bytes == 64 ? 1 : bytes == 128 ? 2 : 3;
}

static void load(Api &api) {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(BITPACT_MISSING_DEVICE,
         "no CUDA device: the driver library cannot be loaded ({})",
         ::dlerror());
  auto find = [&](const char *symbol) {
    void *address = ::dlsym(library, symbol);
    if (!address)
      fail(BITPACT_MISSING_DEVICE,
           "no CUDA device: libcuda.so.1 has no {}; the driver is too old",
           symbol);
    return address;
  };
#define BITPACT_CUDA_FIND(member, symbol, parameters)                          \
  api.member.function =                                                        \
      reinterpret_cast<decltype(api.member.function)>(find(#symbol));
  BITPACT_CUDA_FUNCTIONS(BITPACT_CUDA_FIND)
#undef BITPACT_CUDA_FIND
  api.encodeTiled.function =
      reinterpret_cast<decltype(api.encodeTiled.function)>(
          ::dlsym(library, api.encodeTiled.symbol));
  api.launchEx.function =
      reinterpret_cast<decltype(api.launchEx.function)>(
          ::dlsym(library, api.launchEx.symbol));
  if (Result result = api.init(0))
    fail(BITPACT_MISSING_DEVICE, "no CUDA device: cuInit: {} ({})",
         nameOf(api, result), result);
  int version = 0;
  api.driverVersion(&version);
  runtime::log(fmt::format("cuda: driver for CUDA {}.{}", version / 1000,
                           version % 1000 / 10));
}

const Api &Api::get() {
  // A failure is not remembered: a device may appear later.
  static std::mutex mutex;
  static Api api;
  static bool loaded = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (!loaded) {
    load(api);
    loaded = true;
  }
  return api;
}

void Api::check(Result result, const char *what) const {
  if (result == 0)
    return;
  const char *text = nullptr;
  if (errorText(result, &text) != 0 || !text)
    text = "";
  fail(result == errorOutOfMemory ? BITPACT_OUT_OF_MEMORY
                                  : BITPACT_DRIVER_ERROR,
       "{}: {} ({}): {}", what, nameOf(*this, result), result, text);
}

} // namespace bitpact::drivers::cuda
