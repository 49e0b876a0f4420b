// OpenBlasApi.cpp - finds OpenBLAS
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/cpu/OpenBlasApi.h"

#include <dlfcn.h>
#include <mutex>
#include <optional>

namespace bitpact::drivers::openblas {

static std::optional<Api> load(std::string &why) {
  void *library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    why = ::dlerror();
    return std::nullopt;
  }
  auto find = [&](const char *symbol) {
    void *address = ::dlsym(library, symbol);
    if (!address)
      why = std::string("libopenblas.so.0 has no ") + symbol;
    return address;
  };
  using Text = const char *(*)();
  auto config = reinterpret_cast<Text>(find("openblas_get_config"));
  auto core = reinterpret_cast<Text>(find("openblas_get_corename"));
  auto threads = reinterpret_cast<int (*)()>(find("openblas_get_num_threads"));
  auto single = reinterpret_cast<Gemm<float>>(find("cblas_sgemm"));
  auto twice = reinterpret_cast<Gemm<double>>(find("cblas_dgemm"));
  if (!config || !core || !threads || !single || !twice)
    return std::nullopt;
  return Api{config(), core(), threads, single, twice};
}

const Api *Api::find(std::string &why) {
  static std::mutex mutex;
  static std::optional<Api> loaded;
  std::lock_guard<std::mutex> lock(mutex);
  if (!loaded)
    loaded = load(why);
  return loaded ? &*loaded : nullptr;
}

} // namespace bitpact::drivers::openblas
