/* bench.c - a product of matrices of a package beside OpenBLAS
 * Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * bench PACKAGE CONTRACT-NAME OPENBLAS-LIBRARY [THREADS]
 * The contract is a matmul@1 of f32 with open dims, as
 * contracts/library/examples/matmul_fma.json. Both in turn, in one process;
 * the least time of each and their ratio, which is above 1 where the package is
 * faster.
 */
#define _POSIX_C_SOURCE 199309L
#include "runtime/include/bitpact.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*sgemm32)(int, int, int, int, int, int, float, const float *, int,
                        const float *, int, float, float *, int);
typedef void (*sgemm64)(int, int, int, int64_t, int64_t, int64_t, float,
                        const float *, int64_t, const float *, int64_t, float,
                        float *, int64_t);
enum { rowMajor = 101, plain = 111, transposed = 112 };

static sgemm32 with32;
static sgemm64 with64;

static void check(bitpact_status status) {
  if (status == BITPACT_OK)
    return;
  fprintf(stderr, "bench: %s: %s\n", bitpact_status_name(status),
          bitpact_last_error());
  exit(1);
}

static double seconds(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* OpenBLAS itself, or the copy that NumPy brings, with 64-bit extents. */
static void open_blas(const char *path, int threads) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "bench: %s\n", dlerror());
    exit(2);
  }
  void *set = dlsym(library, "openblas_set_num_threads");
  if (!set)
    set = dlsym(library, "scipy_openblas_set_num_threads64_");
  with32 = (sgemm32)dlsym(library, "cblas_sgemm");
  with64 = (sgemm64)dlsym(library, "scipy_cblas_sgemm64_");
  if (!set || (!with32 && !with64)) {
    fprintf(stderr, "bench: %s has no cblas_sgemm of OpenBLAS\n", path);
    exit(2);
  }
  ((void (*)(int))set)(threads);
}

static DLTensor tensor(DLDevice device, float *data, int64_t *shape) {
  DLTensor result;
  memset(&result, 0, sizeof result);
  result.data = data;
  result.device = device;
  result.ndim = 2;
  result.dtype.code = kDLFloat;
  result.dtype.bits = 32;
  result.dtype.lanes = 1;
  result.shape = shape;
  return result;
}

static float *random_matrix(int64_t count) {
  float *data = malloc(sizeof(float) * (size_t)count);
  if (!data)
    exit(1);
  for (int64_t i = 0; i < count; ++i)
    data[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  return data;
}

static void compare(bitpact_kernel *kernel, DLDevice device, int64_t rows,
                    int64_t cols, int64_t depth) {
  float *x = random_matrix(rows * depth), *w = random_matrix(cols * depth),
        *y = random_matrix(rows * cols), *z = random_matrix(rows * cols);
  int64_t shapes[3][2] = {{rows, depth}, {cols, depth}, {rows, cols}};
  DLTensor all[3] = {tensor(device, x, shapes[0]), tensor(device, w, shapes[1]),
                     tensor(device, y, shapes[2])};
  const DLTensor *tensors[3] = {&all[0], &all[1], &all[2]};
  bitpact_launch_args args = {.size = sizeof args};
  args.tensors = tensors;
  args.tensor_count = 3;
  double ours = 1e9, theirs = 1e9,
         work = 2e-9 * (double)rows * (double)cols * (double)depth;
  int rounds = (int)(20 / work);
  rounds = rounds < 5 ? 5 : rounds > 200 ? 200 : rounds;
  for (int i = 0; i < rounds; ++i) {
    double begin = seconds();
    check(bitpact_kernel_launch(kernel, &args));
    double middle = seconds();
    if (with32)
      with32(rowMajor, plain, transposed, (int)rows, (int)cols, (int)depth, 1,
             x, (int)depth, w, (int)depth, 0, z, (int)cols);
    else
      with64(rowMajor, plain, transposed, rows, cols, depth, 1, x, depth, w,
             depth, 0, z, cols);
    double end = seconds();
    ours = middle - begin < ours ? middle - begin : ours;
    theirs = end - middle < theirs ? end - middle : theirs;
  }
  printf("%6lld %6lld %6lld %9.1f %9.1f %9.2f\n", (long long)rows,
         (long long)cols, (long long)depth, work / ours, work / theirs,
         theirs / ours);
  fflush(stdout);
  free(x);
  free(w);
  free(y);
  free(z);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bench PACKAGE CONTRACT-NAME OPENBLAS-LIBRARY "
                    "[THREADS]\n");
    return 2;
  }
  int threads = argc > 4 ? atoi(argv[4]) : 1;
  open_blas(argv[3], threads);
  bitpact_package *package;
  bitpact_device *device;
  bitpact_kernel *kernel;
  check(bitpact_package_open(argv[1], &package));
  bitpact_package_info all = {.size = sizeof all};
  check(bitpact_package_get_info(package, &all));
  bitpact_contract_info contract = {.size = sizeof contract};
  uint32_t found = 0;
  for (; found < all.contract_count; ++found) {
    check(bitpact_contract_get_info(package, found, &contract));
    if (strcmp(contract.name, argv[2]) == 0)
      break;
  }
  if (found == all.contract_count) {
    fprintf(stderr, "bench: the package has no contract '%s'\n", argv[2]);
    return 2;
  }
  bitpact_device_options options = {.size = sizeof options};
  options.threads = (uint32_t)threads;
  check(bitpact_device_open("cpu", &options, &device));
  check(bitpact_kernel_lookup(package, device, contract.digest, "train", NULL,
                              &kernel));
  bitpact_device_info where = {.size = sizeof where};
  check(bitpact_device_get_info(device, &where));
  bitpact_dim most[3] = {{"tokens", 4096}, {"out", 4096}, {"in", 4096}};
  check(bitpact_kernel_prepare(kernel, most, 3));

  static const int64_t extents[][3] = {
      {1024, 1024, 1024}, {512, 512, 512}, {1000, 1000, 1000}, {37, 53, 71},
      {128, 4096, 1024},  {32, 1024, 1024}, {8, 1024, 1024},   {4, 4096, 4096},
      {1, 1024, 1024},    {1, 4096, 4096}};
  printf("%s on %s, %d threads\n  rows   cols  depth    GFLOP/s  OpenBLAS     "
         "ratio\n",
         contract.name, where.name, threads);
  for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i)
    compare(kernel, where.dl_device, extents[i][0], extents[i][1],
            extents[i][2]);
  bitpact_kernel_release(kernel);
  bitpact_device_close(device);
  bitpact_package_close(package);
  return 0;
}
