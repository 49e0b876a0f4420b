// fake_cuda.c - a CUDA driver that notes its calls instead of having a GPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Device memory is the host's. A launch is noted, not run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct FakeCudaLog {
  int contexts, modules, launches, capturing, failLaunch, pushed;
  int allocations, synchronizations;
  int parameters; /* noted of a launch; 0: five */
  unsigned grid, block, shared, dynamicSharedSet;
  void *stream;
  uint64_t slots[8];
  unsigned parts, merges; /* of the last launch; is it the merging kernel */
  /* Of the last tensor map. */
  int mapType, mapSwizzle, mapPromotion, mapFill;
  uint64_t mapExtents[3], mapPitch, mapApart; /* the last of stacks */
  uint32_t mapBox[3], mapRank;
  int overlaps; /* launches with that attribute */
};
EXPORT struct FakeCudaLog fakeCudaLog;

static void *const primary = &fakeCudaLog;
static void *current;

EXPORT int cuInit(unsigned flags) { return flags; }
EXPORT int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
EXPORT int cuGetErrorName(int error, const char **text) {
  *text = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_FAKE";
  return 0;
}
EXPORT int cuGetErrorString(int error, const char **text) {
  *text = error == 719 ? "unspecified launch failure" : "fake";
  return 0;
}
EXPORT int cuDeviceGetCount(int *count) {
  *count = 2;
  return 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT int cuDeviceGetName(char *name, int length, int device) {
  strncpy(name, device ? "Fake A100" : "Fake H200", (size_t)length);
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int which, int device) {
  switch (which) {
  case 75:
    *value = device ? 8 : 9;
    break;
  case 97:
    *value = 232448;
    break;
  case 16:
    *value = 132;
    break;
  default:
    *value = 0;
  }
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  ++fakeCudaLog.contexts;
  *context = primary;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  --fakeCudaLog.contexts;
  return 0;
}
EXPORT int cuCtxGetCurrent(void **context) {
  *context = current;
  return 0;
}
EXPORT int cuCtxSetCurrent(void *context) {
  current = context;
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void *context) {
  ++fakeCudaLog.pushed;
  current = context;
  return 0;
}
EXPORT int cuCtxPopCurrent_v2(void **context) {
  *context = current;
  current = 0;
  --fakeCudaLog.pushed;
  return 0;
}
EXPORT int cuCtxSynchronize(void) {
  ++fakeCudaLog.synchronizations;
  return 0;
}
EXPORT int cuModuleLoadData(void **module, const void *image) {
  (void)image;
  *module = &fakeCudaLog.modules;
  ++fakeCudaLog.modules;
  return current == primary ? 0 : 201;
}
EXPORT int cuModuleUnload(void *module) {
  (void)module;
  --fakeCudaLog.modules;
  return 0;
}
EXPORT int cuModuleGetFunction(void **function, void *module,
                               const char *name) {
  int merges = strcmp(name, "row_sum_merge") == 0;
  *function = (char *)module + merges;
  return merges || strcmp(name, "row_sum") == 0 ? 0 : 500;
}
EXPORT int cuFuncGetAttribute(int *value, int which, void *function) {
  (void)function;
  *value = which == 0 ? 256 : which == 1 ? 1024 : 0;
  return 0;
}
EXPORT int cuFuncSetAttribute(void *function, int which, int value) {
  (void)function;
  if (which == 8)
    fakeCudaLog.dynamicSharedSet = (unsigned)value;
  return 0;
}
EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
                          unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **parameters,
                          void **extra) {
  if (fakeCudaLog.failLaunch)
    return fakeCudaLog.failLaunch;
  if (current != primary || extra || gz != 1 || by != 1 || bz != 1)
    return 201;
  ++fakeCudaLog.launches;
  fakeCudaLog.grid = gx;
  fakeCudaLog.parts = gy;
  fakeCudaLog.merges = (uintptr_t)function & 1;
  fakeCudaLog.block = bx;
  fakeCudaLog.shared = shared;
  fakeCudaLog.stream = stream;
  int count = fakeCudaLog.parameters ? fakeCudaLog.parameters : 5;
  for (int i = 0; i < count; ++i)
    fakeCudaLog.slots[i] = *(uint64_t *)parameters[i];
  return 0;
}
struct LaunchAttribute {
  int id, padding, value[16];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
  struct LaunchAttribute *attributes;
  unsigned attributeCount;
};
EXPORT int cuLaunchKernelEx(const struct LaunchConfig *config, void *function,
                            void **parameters, void **extra) {
  if (config->attributeCount != 1 || config->attributes->id != 6 ||
      config->attributes->value[0] != 1)
    return 1;
  ++fakeCudaLog.overlaps;
  return cuLaunchKernel(function, config->grid[0], config->grid[1],
                        config->grid[2], config->block[0], config->block[1],
                        config->block[2], config->shared, config->stream,
                        parameters, extra);
}
EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                                  void *address, const uint64_t *extents,
                                  const uint64_t *pitch, const uint32_t *box,
                                  const uint32_t *steps, int interleave,
                                  int swizzle, int promotion, int fill) {
  if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 2 || rank > 3 ||
      interleave)
    return 1;
  for (unsigned i = 0; i < rank; ++i)
    if (steps[i] != 1 || (i > 0 && pitch[i - 1] % 16))
      return 1;
  fakeCudaLog.mapType = type;
  fakeCudaLog.mapSwizzle = swizzle;
  fakeCudaLog.mapPromotion = promotion;
  fakeCudaLog.mapFill = fill;
  memcpy(fakeCudaLog.mapExtents, extents, rank * sizeof *extents);
  fakeCudaLog.mapPitch = *pitch;
  fakeCudaLog.mapApart = rank == 3 ? pitch[1] : 0;
  memcpy(fakeCudaLog.mapBox, box, rank * sizeof *box);
  fakeCudaLog.mapRank = rank;
  *(uint64_t *)map = 0xb0c5; /* what a launch finds */
  return 0;
}
EXPORT int cuStreamIsCapturing(void *stream, int *status) {
  *status = fakeCudaLog.capturing;
  return stream ? 0 : 900;
}
EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  *stream = malloc(1);
  return 0;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  free(stream);
  return 0;
}
EXPORT int cuStreamSynchronize(void *stream) {
  (void)stream;
  return 0;
}
EXPORT int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  *event = malloc(1);
  return 0;
}
EXPORT int cuEventRecord(void *event, void *stream) {
  (void)event;
  (void)stream;
  return 0;
}
EXPORT int cuEventSynchronize(void *event) {
  (void)event;
  return 0;
}
EXPORT int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  (void)from;
  (void)to;
  *milliseconds = 2.5f;
  return 0;
}
EXPORT int cuEventDestroy_v2(void *event) {
  free(event);
  return 0;
}
EXPORT int cuMemAlloc_v2(unsigned long long *data, size_t bytes) {
  if (bytes > (size_t)1 << 40)
    return 2;
  ++fakeCudaLog.allocations;
  *data =
      (unsigned long long)(uintptr_t)aligned_alloc(256, (bytes + 255) & ~255ul);
  return 0;
}
EXPORT int cuMemFree_v2(unsigned long long data) {
  --fakeCudaLog.allocations;
  free((void *)(uintptr_t)data);
  return 0;
}
EXPORT int cuMemcpyHtoD_v2(unsigned long long to, const void *from,
                           size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from,
                                size_t bytes, void *stream) {
  (void)stream;
  memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
  return 0;
}
EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char value,
                           size_t bytes, void *stream) {
  (void)stream;
  memset((void *)(uintptr_t)to, value, bytes);
  return 0;
}
