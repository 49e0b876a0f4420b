// kernels.c - hand-written kernels with the calling convention of packages
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

/* x[tokens, hidden] f32 -> y[tokens] f32: a chain from +0. */
static void rowSum(const uint64_t *slots, int64_t begin, int64_t end,
                   float offset) {
  const float *x = (const float *)slots[0];
  int64_t stride = (int64_t)slots[1], hidden = (int64_t)slots[4];
  float *y = (float *)slots[2];
  for (int64_t row = begin; row < end; ++row) {
    float sum = offset;
    for (int64_t i = 0; i < hidden; ++i)
      sum += x[row * stride + i];
    y[row] = sum;
  }
}

EXPORT void row_sum(const uint64_t *slots, int64_t begin, int64_t end) {
  rowSum(slots, begin, end, 0);
}

/* Tells itself apart in the result. */
EXPORT void row_sum_plus_1000(const uint64_t *slots, int64_t begin,
                              int64_t end) {
  rowSum(slots, begin, end, 1000);
}

/* The same slots; writes the bits of the thread's float environment. */
EXPORT void float_state(const uint64_t *slots, int64_t begin, int64_t end) {
  int32_t *y = (int32_t *)slots[2];
  for (int64_t row = begin; row < end; ++row) {
#if defined(__x86_64__)
    y[row] = (int32_t)_mm_getcsr();
#else
    y[row] = 0x1F80;
#endif
  }
}

/* x[tokens, hidden] -> y[tokens, hidden] f32, twice each element; y may be x.
 */
EXPORT void doubled(const uint64_t *slots, int64_t begin, int64_t end) {
  const float *x = (const float *)slots[0];
  float *y = (float *)slots[2];
  int64_t strideX = (int64_t)slots[1], strideY = (int64_t)slots[3];
  int64_t hidden = (int64_t)slots[5];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t i = 0; i < hidden; ++i)
      y[row * strideY + i] = 2 * x[row * strideX + i];
}

/* As row_sum, with two rows a program and the partial sums in workspace. */
EXPORT void row_sum_pairs(const uint64_t *slots, int64_t begin, int64_t end) {
  const float *x = (const float *)slots[0];
  int64_t stride = (int64_t)slots[1], tokens = (int64_t)slots[3];
  int64_t hidden = (int64_t)slots[4];
  float *y = (float *)slots[2], *partial = (float *)slots[5];
  for (int64_t row = 2 * begin; row < 2 * end && row < tokens; ++row) {
    partial[row] = 0;
    for (int64_t i = 0; i < hidden; ++i)
      partial[row] += x[row * stride + i];
    y[row] = partial[row];
  }
}

/* Programs share rows: part p / tokens of row p % tokens, 4 elements each. */
EXPORT void row_sum_parts(const uint64_t *slots, int64_t begin, int64_t end) {
  const float *x = (const float *)slots[0];
  int64_t stride = (int64_t)slots[1], tokens = (int64_t)slots[3];
  int64_t hidden = (int64_t)slots[4];
  float *parts = (float *)slots[5];
  for (int64_t p = begin; p < end; ++p) {
    int64_t first = p / tokens * 4;
    parts[p] = 0;
    for (int64_t i = first; i < first + 4 && i < hidden; ++i)
      parts[p] += x[p % tokens * stride + i];
  }
}

/* The next step: a program for two rows. */
EXPORT void row_sum_merge(const uint64_t *slots, int64_t begin, int64_t end) {
  int64_t tokens = (int64_t)slots[3], hidden = (int64_t)slots[4];
  float *y = (float *)slots[2], *parts = (float *)slots[5];
  for (int64_t row = 2 * begin; row < 2 * end && row < tokens; ++row) {
    y[row] = parts[row];
    for (int64_t part = 1; 4 * part < hidden; ++part)
      y[row] += parts[part * tokens + row];
  }
}

/* x[tokens, hidden] f32 at target[tokens] i64 -> y[tokens] f32: NaN and the
 * fault word where there is no such element. */
EXPORT void taken(const uint64_t *slots, int64_t begin, int64_t end) {
  const float *x = (const float *)slots[0];
  int64_t stride = (int64_t)slots[1], hidden = (int64_t)slots[5];
  const int64_t *target = (const int64_t *)slots[2];
  float *y = (float *)slots[3];
  uint32_t *fault = (uint32_t *)slots[6];
  for (int64_t row = begin; row < end; ++row) {
    int good = target[row] >= 0 && target[row] < hidden;
    y[row] = good ? x[row * stride + target[row]] : __builtin_nanf("");
    if (!good)
      __atomic_store_n(fault, 1, __ATOMIC_RELAXED);
  }
}
