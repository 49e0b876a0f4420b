// HipApi.cpp - finds and starts HIP
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/hip/HipApi.h"

#include <cctype>
#include <dlfcn.h>
#include <mutex>

namespace bitpact::drivers::hip {

using runtime::fail;

namespace {

constexpr const char *libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                     "libamdhip64.so.5"};

void *openLibrary(const char *&name) {
  std::string first;
  for (const char *library : libraries) {
    name = library;
    if (void *handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL))
      return handle;
    if (first.empty())
      first = ::dlerror();
  }
  fail(BITPACT_MISSING_DEVICE, "no HIP device: none of {} can be loaded ({})",
       fmt::format("{}", fmt::join(libraries, ", ")), first);
}

void load(Api &api) {
  const char *name = nullptr;
  void *library = openLibrary(name);
  auto find = [&](const char *symbol) {
    void *address = ::dlsym(library, symbol);
    if (!address)
      fail(BITPACT_MISSING_DEVICE,
           "no HIP device: {} has no {}; the driver is too old", name, symbol);
    return address;
  };
#define BITPACT_HIP_FIND(member, symbol, parameters)                           \
  api.member.function =                                                        \
      reinterpret_cast<decltype(api.member.function)>(find(#symbol));
  BITPACT_HIP_FUNCTIONS(BITPACT_HIP_FIND)
#undef BITPACT_HIP_FIND
  api.errorName =
      reinterpret_cast<decltype(api.errorName)>(find("hipGetErrorName"));
  api.errorText =
      reinterpret_cast<decltype(api.errorText)>(find("hipGetErrorString"));
  // HIP 6 gave the properties another layout and their function a new name.
  void *properties = ::dlsym(library, "hipGetDevicePropertiesR0600");
  api.properties = reinterpret_cast<decltype(api.properties)>(
      properties ? properties : find("hipGetDeviceProperties"));
  if (Result result = api.init(0))
    fail(BITPACT_MISSING_DEVICE, "no HIP device: hipInit: {} ({})",
         api.errorName(result), result);
  int version = 0;
  (void)api.driverVersion(&version);
  runtime::log(fmt::format("hip: {}, driver {}", name, version));
}

} // namespace

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
  fail(result == errorOutOfMemory ? BITPACT_OUT_OF_MEMORY
                                  : BITPACT_DRIVER_ERROR,
       "{}: {} ({}): {}", what, errorName(result), result, errorText(result));
}

// The name lies elsewhere in the properties of every major version, which are
// 1472 bytes in HIP 6; it is known by its form.
std::string Api::archName(int device) const {
  std::string bytes(16384, '\0');
  check(properties(bytes.data(), device), "hipGetDeviceProperties");
  for (size_t at = bytes.find("gfx"); at != std::string::npos;
       at = bytes.find("gfx", at + 1)) {
    size_t end = bytes.find('\0', at);
    std::string name = bytes.substr(at, end - at);
    bool begins = at == 0 || bytes[at - 1] == '\0';
    bool form = name.size() > 3 && std::isdigit((unsigned char)name[3]);
    for (char c : name.substr(0, name.find(':')))
      form &= std::isalnum((unsigned char)c) != 0;
    if (begins && form)
      return name;
  }
  fail(BITPACT_DRIVER_ERROR,
       "hipGetDeviceProperties: names no architecture (gfx...)");
}

} // namespace bitpact::drivers::hip
