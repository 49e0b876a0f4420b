// HipApi.h - HIP's functions, found at run time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declared here, so that neither building nor starting needs a ROCm
// installation. What is used is the same in HIP 5, 6 and 7.
#ifndef BITPACT_RUNTIME_DRIVERS_HIP_HIPAPI_H
#define BITPACT_RUNTIME_DRIVERS_HIP_HIPAPI_H

#include "runtime/drivers/GpuDriver.h"

#include <cstddef>
#include <cstdint>

namespace bitpact::drivers::hip {

using Result = int; // 0 is success

// Values of HIP's enums that are used here.
enum : int {
  attributeMultiprocessors = 63,
  attributeShared = 74, // of a CTA
  functionMaxThreads = 0,
  functionStaticShared = 1,
  errorOutOfMemory = 2,
  errorNoDevice = 100,
};

// X(member, symbol, parameters)
#define BITPACT_HIP_FUNCTIONS(X)                                               \
  X(init, hipInit, (unsigned))                                                 \
  X(driverVersion, hipDriverGetVersion, (int *))                               \
  X(deviceCount, hipGetDeviceCount, (int *))                                   \
  X(deviceGet, hipDeviceGet, (int *, int))                                     \
  X(deviceName, hipDeviceGetName, (char *, int, int))                          \
  X(deviceAttribute, hipDeviceGetAttribute, (int *, int, int))                 \
  X(deviceCurrent, hipGetDevice, (int *))                                      \
  X(deviceSet, hipSetDevice, (int))                                            \
  X(synchronize, hipDeviceSynchronize, ())                                     \
  X(moduleLoad, hipModuleLoadData, (Module *, const void *))                   \
  X(moduleUnload, hipModuleUnload, (Module))                                   \
  X(moduleFunction, hipModuleGetFunction, (Function *, Module, const char *))  \
  X(functionAttribute, hipFuncGetAttribute, (int *, int, Function))            \
  X(launch, hipModuleLaunchKernel,                                             \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(streamCapturing, hipStreamIsCapturing, (Stream, int *))                    \
  X(streamCreate, hipStreamCreateWithFlags, (Stream *, unsigned))              \
  X(streamDestroy, hipStreamDestroy, (Stream))                                 \
  X(eventCreate, hipEventCreateWithFlags, (Event *, unsigned))                 \
  X(eventRecord, hipEventRecord, (Event, Stream))                              \
  X(eventSynchronize, hipEventSynchronize, (Event))                            \
  X(eventElapsed, hipEventElapsedTime, (float *, Event, Event))                \
  X(eventDestroy, hipEventDestroy, (Event))                                    \
  X(allocate, hipMalloc, (Pointer *, size_t))                                  \
  X(release, hipFree, (Pointer))                                               \
  X(copyIn, hipMemcpyHtoD, (Pointer, const void *, size_t))                    \
  X(copyOut, hipMemcpyDtoH, (void *, Pointer, size_t))                         \
  X(copy, hipMemcpyDtoDAsync, (Pointer, Pointer, size_t, Stream))              \
  X(fill, hipMemsetAsync, (Pointer, int, size_t, Stream))

struct Api {
  using Module = struct ModuleTag *;
  using Function = struct FunctionTag *;
  using Stream = struct StreamTag *;
  using Event = struct EventTag *;
  using Pointer = void *;

#define BITPACT_HIP_MEMBER(member, symbol, parameters)                         \
  Entry<Result parameters> member{#symbol};
  BITPACT_HIP_FUNCTIONS(BITPACT_HIP_MEMBER)
#undef BITPACT_HIP_MEMBER
  const char *(*errorName)(Result) = nullptr;
  const char *(*errorText)(Result) = nullptr;
  Result (*properties)(void *, int) = nullptr;

  // The library, started; loaded once for the process. Throws
  // BITPACT_MISSING_DEVICE where there is none.
  static const Api &get();

  // Throws BITPACT_DRIVER_ERROR (or BITPACT_OUT_OF_MEMORY) unless success.
  void check(Result result, const char *what) const;
  template <typename E, typename... Arguments>
  void call(const E &entry, Arguments... arguments) const {
    check(entry(arguments...), entry.symbol);
  }

  // gfx942:sramecc+:xnack-
  std::string archName(int device) const;
};

} // namespace bitpact::drivers::hip

#endif // BITPACT_RUNTIME_DRIVERS_HIP_HIPAPI_H
