// fake_hip.c - a HIP that notes its calls instead of having a GPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Device memory is the host's. A launch is noted, not run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct FakeHipLog {
  int modules, launches, capturing, failLaunch, device, launchDevice;
  int allocations, synchronizations;
  int parameters; /* noted of a launch; 0: five */
  unsigned grid, block, shared;
  void *stream;
  uint64_t slots[8];
};
EXPORT struct FakeHipLog fakeHipLog;

EXPORT int hipInit(unsigned flags) { return (int)flags; }
EXPORT int hipDriverGetVersion(int *version) {
  *version = 60240092;
  return 0;
}
EXPORT const char *hipGetErrorName(int error) {
  return error == 719 ? "hipErrorLaunchFailure" : "hipErrorFake";
}
EXPORT const char *hipGetErrorString(int error) {
  return error == 719 ? "unspecified launch failure" : "fake";
}
EXPORT int hipGetDeviceCount(int *count) {
  *count = 3;
  return 0;
}
EXPORT int hipDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT int hipDeviceGetName(char *name, int length, int device) {
  strncpy(name, device ? "Fake MI250X" : "Fake MI300X", (size_t)length);
  return 0;
}
/* As large as the properties of HIP 6; device 2 names no architecture. */
EXPORT int hipGetDevicePropertiesR0600(void *properties, int device) {
  char *bytes = properties;
  memset(bytes, 0, 1472);
  strcpy(bytes, "gfx of a fake");
  if (device < 2)
    strcpy(bytes + 1160,
           device ? "gfx90a:sramecc+:xnack-" : "gfx942:sramecc+:xnack-");
  return 0;
}
EXPORT int hipDeviceGetAttribute(int *value, int which, int device) {
  (void)device;
  *value = which == 63 ? 304 : which == 74 ? 65536 : 0;
  return 0;
}
EXPORT int hipGetDevice(int *device) {
  *device = fakeHipLog.device;
  return 0;
}
EXPORT int hipSetDevice(int device) {
  fakeHipLog.device = device;
  return 0;
}
EXPORT int hipDeviceSynchronize(void) {
  ++fakeHipLog.synchronizations;
  return 0;
}
EXPORT int hipModuleLoadData(void **module, const void *image) {
  (void)image;
  *module = &fakeHipLog.modules;
  ++fakeHipLog.modules;
  return 0;
}
EXPORT int hipModuleUnload(void *module) {
  (void)module;
  --fakeHipLog.modules;
  return 0;
}
EXPORT int hipModuleGetFunction(void **function, void *module,
                                const char *name) {
  *function = module;
  return strcmp(name, "row_sum") ? 500 : 0;
}
EXPORT int hipFuncGetAttribute(int *value, int which, void *function) {
  (void)function;
  *value = which == 0 ? 256 : which == 1 ? 1024 : 0;
  return 0;
}
EXPORT int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy,
                                 unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, void *stream,
                                 void **parameters, void **extra) {
  (void)function;
  if (fakeHipLog.failLaunch)
    return fakeHipLog.failLaunch;
  if (extra || gy != 1 || gz != 1 || by != 1 || bz != 1)
    return 1;
  ++fakeHipLog.launches;
  fakeHipLog.launchDevice = fakeHipLog.device;
  fakeHipLog.grid = gx;
  fakeHipLog.block = bx;
  fakeHipLog.shared = shared;
  fakeHipLog.stream = stream;
  int count = fakeHipLog.parameters ? fakeHipLog.parameters : 5;
  for (int i = 0; i < count; ++i)
    fakeHipLog.slots[i] = *(uint64_t *)parameters[i];
  return 0;
}
EXPORT int hipStreamIsCapturing(void *stream, int *status) {
  *status = fakeHipLog.capturing;
  return stream ? 0 : 900;
}
EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  *stream = malloc(1);
  return flags == 1 ? 0 : 1;
}
EXPORT int hipStreamDestroy(void *stream) {
  free(stream);
  return 0;
}
EXPORT int hipEventCreateWithFlags(void **event, unsigned flags) {
  *event = malloc(1);
  return (int)flags;
}
EXPORT int hipEventRecord(void *event, void *stream) {
  (void)event;
  (void)stream;
  return 0;
}
EXPORT int hipEventSynchronize(void *event) {
  (void)event;
  return 0;
}
EXPORT int hipEventElapsedTime(float *milliseconds, void *from, void *to) {
  (void)from;
  (void)to;
  *milliseconds = 2.5f;
  return 0;
}
EXPORT int hipEventDestroy(void *event) {
  free(event);
  return 0;
}
EXPORT int hipMalloc(void **data, size_t bytes) {
  if (bytes > (size_t)1 << 40)
    return 2;
  ++fakeHipLog.allocations;
  *data = aligned_alloc(256, (bytes + 255) & ~(size_t)255);
  return 0;
}
EXPORT int hipFree(void *data) {
  --fakeHipLog.allocations;
  free(data);
  return 0;
}
EXPORT int hipMemcpyHtoD(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
  return 0;
}
EXPORT int hipMemcpyDtoH(void *to, void *from, size_t bytes) {
  memcpy(to, from, bytes);
  return 0;
}
EXPORT int hipMemcpyDtoDAsync(void *to, void *from, size_t bytes,
                              void *stream) {
  (void)stream;
  memmove(to, from, bytes);
  return 0;
}
EXPORT int hipMemsetAsync(void *to, int value, size_t bytes, void *stream) {
  (void)stream;
  memset(to, value, bytes);
  return 0;
}
