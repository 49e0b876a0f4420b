// CudaApi.h - the CUDA driver's functions, found at run time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declared here, so that neither building nor starting needs a CUDA toolkit.
#ifndef BITPACT_RUNTIME_DRIVERS_CUDA_CUDAAPI_H
#define BITPACT_RUNTIME_DRIVERS_CUDA_CUDAAPI_H

#include "runtime/drivers/GpuDriver.h"

#include <cstddef>
#include <cstdint>

namespace bitpact::drivers::cuda {

using Result = int; // 0 is success
using Context = struct ContextTag *;

// Values of the driver's enums that are used here.
enum : int {
  attributeMultiprocessors = 16,
  attributeMajor = 75,
  attributeMinor = 76,
  attributeSharedOptIn = 97,
  functionMaxThreads = 0,
  functionStaticShared = 1,
  functionMaxDynamicShared = 8,
  errorOutOfMemory = 2,
  errorNoDevice = 100,
};

// How the copy unit sees a matrix. The driver fills it and a kernel reads it.
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};
enum : int {
  tensorMapPlain = 0,      // not interleaved
  tensorMapZeroFill = 0,   // beyond the extents
};
int tensorMapType(package::ElementType type);
int tensorMapSwizzle(int64_t bytes);
int tensorMapPromotion(int64_t bytes); // 256 where it is 0

// How a launch is described with an attribute.
struct LaunchAttribute {
  int id, padding;
  int value[16];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  struct StreamTag *stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
enum : int { launchProgrammaticSerialization = 6 };

// X(member, symbol, parameters)
#define BITPACT_CUDA_FUNCTIONS(X)                                              \
  X(init, cuInit, (unsigned))                                                  \
  X(driverVersion, cuDriverGetVersion, (int *))                                \
  X(errorName, cuGetErrorName, (Result, const char **))                        \
  X(errorText, cuGetErrorString, (Result, const char **))                      \
  X(deviceCount, cuDeviceGetCount, (int *))                                    \
  X(deviceGet, cuDeviceGet, (int *, int))                                      \
  X(deviceName, cuDeviceGetName, (char *, int, int))                           \
  X(deviceAttribute, cuDeviceGetAttribute, (int *, int, int))                  \
  X(contextRetain, cuDevicePrimaryCtxRetain, (Context *, int))                 \
  X(contextRelease, cuDevicePrimaryCtxRelease_v2, (int))                       \
  X(contextCurrent, cuCtxGetCurrent, (Context *))                              \
  X(contextPush, cuCtxPushCurrent_v2, (Context))                               \
  X(contextPop, cuCtxPopCurrent_v2, (Context *))                               \
  X(synchronize, cuCtxSynchronize, ())                                         \
  X(moduleLoad, cuModuleLoadData, (Module *, const void *))                    \
  X(moduleUnload, cuModuleUnload, (Module))                                    \
  X(moduleFunction, cuModuleGetFunction, (Function *, Module, const char *))   \
  X(functionAttribute, cuFuncGetAttribute, (int *, int, Function))             \
  X(functionSet, cuFuncSetAttribute, (Function, int, int))                     \
  X(launch, cuLaunchKernel,                                                    \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(streamCapturing, cuStreamIsCapturing, (Stream, int *))                     \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned))                        \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                               \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                          \
  X(eventCreate, cuEventCreate, (Event *, unsigned))                           \
  X(eventRecord, cuEventRecord, (Event, Stream))                               \
  X(eventSynchronize, cuEventSynchronize, (Event))                             \
  X(eventElapsed, cuEventElapsedTime, (float *, Event, Event))                 \
  X(eventDestroy, cuEventDestroy_v2, (Event))                                  \
  X(allocate, cuMemAlloc_v2, (Pointer *, size_t))                              \
  X(release, cuMemFree_v2, (Pointer))                                          \
  X(copyIn, cuMemcpyHtoD_v2, (Pointer, const void *, size_t))                  \
  X(copyOut, cuMemcpyDtoH_v2, (void *, Pointer, size_t))                       \
  X(copy, cuMemcpyDtoDAsync_v2, (Pointer, Pointer, size_t, Stream))            \
  X(fill, cuMemsetD8Async, (Pointer, unsigned char, size_t, Stream))

struct Api {
  using Module = struct ModuleTag *;
  using Function = struct FunctionTag *;
  using Stream = struct StreamTag *;
  using Event = struct EventTag *;
  using Pointer = unsigned long long;

#define BITPACT_CUDA_MEMBER(member, symbol, parameters)                        \
  Entry<Result parameters> member{#symbol};
  BITPACT_CUDA_FUNCTIONS(BITPACT_CUDA_MEMBER)
#undef BITPACT_CUDA_MEMBER
  // From CUDA 12 on; null before.
  Entry<Result(TensorMap *, int, unsigned, void *, const uint64_t *,
               const uint64_t *, const uint32_t *, const uint32_t *, int, int,
               int, int)>
      encodeTiled{"cuTensorMapEncodeTiled"};
  // From CUDA 11.8 on; null before.
  Entry<Result(const LaunchConfig *, Function, void **, void **)> launchEx{
      "cuLaunchKernelEx"};

  // The driver, started; loaded once for the process. Throws
  // BITPACT_MISSING_DEVICE where there is none.
  static const Api &get();

  // Throws BITPACT_DRIVER_ERROR (or BITPACT_OUT_OF_MEMORY) unless success.
  void check(Result result, const char *what) const;
  template <typename E, typename... Arguments>
  void call(const E &entry, Arguments... arguments) const {
    check(entry(arguments...), entry.symbol);
  }
};

} // namespace bitpact::drivers::cuda

#endif // BITPACT_RUNTIME_DRIVERS_CUDA_CUDAAPI_H
