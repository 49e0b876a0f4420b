/* launch.c - a C99 program that launches kernels of a package
 * Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * launch PACKAGE CONTRACT-NAME [DEVICE]
 * All rows in one launch of the training role, then every row alone in the
 * rollout role: the bytes must be the same. The contract is an rms_norm over
 * bf16 values with a fixed hidden dim.
 */
#include "runtime/include/bitpact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 5

static void check(bitpact_status status) {
  if (status == BITPACT_OK)
    return;
  fprintf(stderr, "launch: %s: %s\n", bitpact_status_name(status),
          bitpact_last_error());
  exit(1);
}

/* Finds the contract and the extent of its dim `hidden`. */
static bitpact_contract_info find_contract(const bitpact_package *package,
                                           const char *name, int64_t *hidden) {
  bitpact_package_info all = {.size = sizeof all};
  check(bitpact_package_get_info(package, &all));
  for (uint32_t i = 0; i < all.contract_count; ++i) {
    bitpact_contract_info contract = {.size = sizeof contract};
    check(bitpact_contract_get_info(package, i, &contract));
    if (strcmp(contract.name, name) != 0)
      continue;
    for (uint32_t d = 0; d < contract.dim_count; ++d) {
      bitpact_dim_info dim = {.size = sizeof dim};
      check(bitpact_contract_get_dim(package, i, d, &dim));
      if (strcmp(dim.name, "hidden") == 0)
        *hidden = dim.extent;
    }
    return contract;
  }
  fprintf(stderr, "launch: the package has no contract '%s'\n", name);
  exit(2);
}

/* A dense tensor of bf16 that begins `offset` elements into `data`. */
static DLTensor tensor(DLDevice device, uint16_t *data, int64_t offset,
                       int32_t rank, int64_t *shape) {
  DLTensor result;
  memset(&result, 0, sizeof result);
  result.data = data + offset;
  result.device = device;
  result.ndim = rank;
  result.dtype.code = kDLBfloat;
  result.dtype.bits = 16;
  result.dtype.lanes = 1;
  result.shape = shape; /* no strides: row-major */
  return result;
}

/* Launches on the rows first ... first + count - 1. */
static void launch(bitpact_kernel *kernel, DLDevice device, uint16_t *x,
                   uint16_t *weight, uint16_t *y, int64_t hidden, int64_t first,
                   int64_t count) {
  int64_t rows[2], columns[1];
  rows[0] = count;
  rows[1] = columns[0] = hidden;
  DLTensor in = tensor(device, x, first * hidden, 2, rows);
  DLTensor scale = tensor(device, weight, 0, 1, columns);
  DLTensor out = tensor(device, y, first * hidden, 2, rows);
  const DLTensor *tensors[3];
  tensors[0] = &in;
  tensors[1] = &scale;
  tensors[2] = &out;
  bitpact_launch_args args = {.size = sizeof args};
  args.tensors = tensors;
  args.tensor_count = 3;
  args.site = (uint64_t)first;
  check(bitpact_kernel_launch(kernel, &args));
}

static void print_record(void *count, const char *line) {
  if (++*(int *)count == 1)
    printf("first record: %.60s...\n", line);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: launch PACKAGE CONTRACT-NAME [DEVICE]\n");
    return 2;
  }
  bitpact_package *package;
  bitpact_device *device;
  bitpact_kernel *train, *rollout;
  int64_t hidden = -1;
  check(bitpact_package_open(argv[1], &package));
  bitpact_contract_info contract = find_contract(package, argv[2], &hidden);
  check(bitpact_device_open(argc > 3 ? argv[3] : "cpu", NULL, &device));
  check(bitpact_kernel_lookup(package, device, contract.digest, "train", NULL,
                              &train));
  check(bitpact_kernel_lookup(package, device, contract.digest, "rollout", NULL,
                              &rollout));
  bitpact_device_info where = {.size = sizeof where};
  check(bitpact_device_get_info(device, &where));

  /* Nothing is allocated or loaded in a launch after this. */
  bitpact_dim largest = {"tokens", ROWS};
  check(bitpact_kernel_prepare(train, &largest, 1));
  check(bitpact_kernel_prepare(rollout, &largest, 1));

  size_t count = (size_t)(ROWS * hidden), bytes = 2 * count;
  uint16_t *host = malloc(bytes), *together = malloc(bytes),
           *alone = malloc(bytes);
  if (!host || !together || !alone)
    return 1;
  /* bf16 patterns of numbers from 2^-6 up to 2^10, either sign. */
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    host[i] = (uint16_t)((state & 0x80000000u) >> 16 |
                         (0x3C80u + (state >> 8) % 0x800u));
  }
  void *x, *weight, *y;
  check(bitpact_device_alloc(device, bytes, &x));
  check(bitpact_device_alloc(device, bytes, &weight));
  check(bitpact_device_alloc(device, bytes, &y));
  check(bitpact_device_copy_in(device, x, host, bytes));
  check(bitpact_device_copy_in(device, weight, host, 2 * (size_t)hidden));

  launch(train, where.dl_device, x, weight, y, hidden, 0, ROWS);
  check(bitpact_device_synchronize(device));
  check(bitpact_device_copy_out(device, together, y, bytes));
  check(bitpact_device_fill(device, y, 0xFF, bytes, NULL));
  for (int64_t row = 0; row < ROWS; ++row)
    launch(rollout, where.dl_device, x, weight, y, hidden, row, 1);
  check(bitpact_device_synchronize(device));
  check(bitpact_device_copy_out(device, alone, y, bytes));

  size_t differing = 0;
  for (size_t i = 0; i < bytes; ++i)
    differing += ((char *)together)[i] != ((char *)alone)[i];
  printf("%s on %s\n", contract.name, where.name);
  printf("%d rows together (train) and alone (rollout): %zu of %zu bytes "
         "differ\n",
         ROWS, differing, bytes);
  int records = 0;
  check(bitpact_records_drain(print_record, &records, NULL));
  printf("%d launches recorded\n", records);

  check(bitpact_device_free(device, x));
  check(bitpact_device_free(device, weight));
  check(bitpact_device_free(device, y));
  free(host);
  free(together);
  free(alone);
  bitpact_kernel_release(train);
  bitpact_kernel_release(rollout);
  bitpact_device_close(device);
  bitpact_package_close(package);
  return differing || records != ROWS + 1;
}
