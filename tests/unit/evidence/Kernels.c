/* Kernels.c - kernels written by hand: right ones, and ones with one fault
 * Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every entry takes one slot per argument of the manifest: pointer and row
 * stride of x, for rms_norm the pointer of weight, pointer (and row stride) of
 * y, then tokens and hidden. */
#include <immintrin.h>
#include <stdint.h>

#define ENTRY __attribute__((visibility("default")))
#define LANES 8

static const uint32_t canonicalNan = 0x7fc00000u;

static void store(float *to, float value) {
  if (value != value)
    __builtin_memcpy(to, &canonicalNan, 4);
  else
    *to = value;
}

/* block chain, from +0: lane l visits l, l + 8, l + 16, ... */
static void lanes(const float *row, int64_t hidden, float acc[LANES]) {
  for (int64_t l = 0; l < LANES; ++l) {
    acc[l] = 0.0f;
    for (int64_t i = l; i < hidden; i += LANES)
      acc[l] = acc[l] + row[i];
  }
}

static float halving(float acc[LANES]) {
  for (int64_t half = LANES / 2; half; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      acc[l] = acc[l] + acc[l + half];
  return acc[0];
}

static float pairwise(float acc[LANES]) {
  for (int64_t step = 1; step < LANES; step *= 2)
    for (int64_t l = 0; l < LANES; l += 2 * step)
      acc[l] = acc[l] + acc[l + step];
  return acc[0];
}

#define SUM(NAME, BODY)                                                        \
  ENTRY void NAME(const uint64_t *slots, int64_t begin, int64_t end) {         \
    const float *x = (const float *)slots[0];                                  \
    int64_t stride = (int64_t)slots[1];                                        \
    float *y = (float *)slots[2];                                              \
    int64_t tokens = (int64_t)slots[3], hidden = (int64_t)slots[4];            \
    (void)tokens;                                                              \
    for (int64_t row = begin; row < end; ++row) {                              \
      const float *in = x + row * stride;                                      \
      float acc[LANES];                                                        \
      BODY                                                                     \
    }                                                                          \
  }

SUM(sum_right, lanes(in, hidden, acc); store(&y[row], halving(acc));)
/* Another schedule of the same tree. */
SUM(sum_right_blocks, for (int64_t l = 0; l < LANES; ++l) acc[l] = 0.0f;
    for (int64_t i = 0; i < hidden; ++i)
        acc[i % LANES] = acc[i % LANES] + in[i];
    store(&y[row], halving(acc));)
SUM(sum_pairwise, lanes(in, hidden, acc); store(&y[row], pairwise(acc));)
SUM(sum_skipped_tail, lanes(in, hidden & ~(int64_t)(LANES - 1), acc);
    store(&y[row], halving(acc));)
SUM(sum_nan_bits, lanes(in, hidden, acc); y[row] = halving(acc);)
SUM(sum_last_row_unwritten, lanes(in, hidden, acc);
    if (tokens == 1 || row + 1 < tokens) store(&y[row], halving(acc));)
SUM(sum_writes_outside, lanes(in, hidden, acc); store(&y[row], halving(acc));
    if (row + 1 == tokens) y[tokens] = 0.0f;)
SUM(sum_reads_padding, lanes(in, hidden, acc); float sum = halving(acc);
    if (row + 1 < tokens) sum += 0.0f * in[hidden]; store(&y[row], sum);)
SUM(sum_looks_at_batch, lanes(in, hidden, acc);
    store(&y[row], tokens >= 256 ? pairwise(acc) : halving(acc));)
SUM(sum_changes_input, lanes(in, hidden, acc); store(&y[row], halving(acc));
    ((float *)in)[0] = 1.0f;)
/* How many programs were asked for, in the first row. */
ENTRY void count_programs(const uint64_t *slots, int64_t begin, int64_t end) {
  *(float *)slots[2] += (float)(end - begin);
}

/* The second launch of each pair is another tree. */
static int launches;
ENTRY void sum_unstable(const uint64_t *slots, int64_t begin, int64_t end) {
  if (begin == 0)
    ++launches;
  if (launches % 2)
    sum_right(slots, begin, end);
  else
    sum_pairwise(slots, begin, end);
}

/* rms_norm: chain with a rounded product; normed rounded to bf16 or not. */
static float toBf16(float value) {
  uint32_t bits;
  if (value != value)
    return value;
  __builtin_memcpy(&bits, &value, 4);
  bits += 0x7fff + ((bits >> 16) & 1);
  bits &= 0xffff0000u;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

static float root(float value) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(value)));
}

enum { FUSED = 1, UNROUNDED = 2, APPROXIMATE = 4 };

static inline __attribute__((always_inline)) void
rmsNorm(const uint64_t *slots, int64_t begin, int64_t end, int faults) {
  const float *x = (const float *)slots[0], *weight = (const float *)slots[2];
  int64_t xStride = (int64_t)slots[1], yStride = (int64_t)slots[4];
  float *y = (float *)slots[3];
  int64_t hidden = (int64_t)slots[6];
  for (int64_t row = begin; row < end; ++row) {
    const float *in = x + row * xStride;
    float *out = y + row * yStride, sum = 0.0f;
    for (int64_t i = 0; i < hidden; ++i) {
      if (faults & FUSED) {
        sum = __builtin_fmaf(in[i], in[i], sum);
      } else {
        float product = in[i] * in[i];
        sum = sum + product;
      }
    }
    float shifted = sum / (float)hidden + 1e-6f, r;
    if (faults & APPROXIMATE)
      r = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(shifted)));
    else
      r = 1.0f / root(shifted);
    for (int64_t i = 0; i < hidden; ++i) {
      float normed = in[i] * r;
      if (!(faults & UNROUNDED))
        normed = toBf16(normed);
      store(&out[i], normed * weight[i]);
    }
  }
}

#define NORM(NAME, FAULTS)                                                     \
  ENTRY void NAME(const uint64_t *slots, int64_t begin, int64_t end) {         \
    rmsNorm(slots, begin, end, FAULTS);                                        \
  }

NORM(norm_right, 0)
NORM(norm_right_f32, UNROUNDED)
NORM(norm_contracted_fma_f32, FUSED | UNROUNDED)
NORM(norm_dropped_rounding, UNROUNDED)
NORM(norm_approximate_sqrt, APPROXIMATE)

/* product: x, its stride, weight, its stride, y, its stride, tokens, out,
 * hidden. What is wrong, and where, is known to ProductCheckTest.cpp. */
enum { ONE_PLACE = 1, LAST_COLUMN = 2, FIRST_ROWS_OF_MANY = 4, EVERYWHERE = 8 };

static inline __attribute__((always_inline)) void
product(const uint64_t *slots, int64_t begin, int64_t end, int faults) {
  const float *x = (const float *)slots[0], *weight = (const float *)slots[2];
  float *y = (float *)slots[4];
  int64_t xStride = (int64_t)slots[1], weightStride = (int64_t)slots[3],
          yStride = (int64_t)slots[5];
  int64_t tokens = (int64_t)slots[6], out = (int64_t)slots[7],
          hidden = (int64_t)slots[8];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t column = 0; column < out; ++column) {
      float sum = 0.0f;
      for (int64_t i = 0; i < hidden; ++i)
        sum = sum + x[row * xStride + i] * weight[column * weightStride + i];
      if ((faults & ONE_PLACE && row == 211 && column == 333) ||
          (faults & LAST_COLUMN && column + 1 == out) ||
          (faults & FIRST_ROWS_OF_MANY && tokens > 100 && row < 2) ||
          faults & EVERYWHERE)
        sum = sum * 1.5f + 1.0f;
      store(&y[row * yStride + column], sum);
    }
}

#define PRODUCT(NAME, FAULTS)                                                  \
  ENTRY void NAME(const uint64_t *slots, int64_t begin, int64_t end) {         \
    product(slots, begin, end, FAULTS);                                        \
  }

PRODUCT(product_right, 0)
PRODUCT(product_one_place, ONE_PLACE)
PRODUCT(product_last_column, LAST_COLUMN)
PRODUCT(product_first_rows_of_many, FIRST_ROWS_OF_MANY)
PRODUCT(product_everywhere, EVERYWHERE)

/* Another schedule: columns outside, elements inside. */
ENTRY void product_columns(const uint64_t *slots, int64_t begin, int64_t end) {
  uint64_t one[9];
  for (int i = 0; i < 9; ++i)
    one[i] = slots[i];
  one[7] = 1;
  for (int64_t column = 0; column < (int64_t)slots[7]; ++column) {
    product(one, begin, end, 0);
    one[2] += 4 * slots[3];
    one[4] += 4;
  }
}

/* Another tree: even elements, odd elements, and both. */
ENTRY void product_pairs(const uint64_t *slots, int64_t begin, int64_t end) {
  const float *x = (const float *)slots[0], *weight = (const float *)slots[2];
  float *y = (float *)slots[4];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t column = 0; column < (int64_t)slots[7]; ++column) {
      float sum[2] = {0.0f, 0.0f};
      for (int64_t i = 0; i < (int64_t)slots[8]; ++i)
        sum[i % 2] = sum[i % 2] + x[row * (int64_t)slots[1] + i] *
                                      weight[column * (int64_t)slots[3] + i];
      store(&y[row * (int64_t)slots[5] + column], sum[0] + sum[1]);
    }
}

/* grouped: x, its stride, weight, its strides, offsets, y, its stride, tokens,
 * experts, boundaries, out, hidden, the fault word. A row's expert is the block
 * between offsets in which it lies; GroupedCheckTest.cpp knows what is wrong. */
enum {
  FIRST_OF_FOUR = 1, /* four rows share the expert of the first of them */
  LONG_BLOCKS = 2,   /* rows of blocks of more than eight get another tree */
  SILENT = 4,        /* no fault is noted */
  DENSE = 8,         /* experts are taken to lie one behind the other */
  NO_NAN = 16,       /* rows without an expert get the first */
  UNSORTED = 32      /* of offsets only the ends are looked at */
};

/* The block of a row, -1 if offsets cut none; `length` gets its rows. */
static int64_t blockOf(const int32_t *offsets, int64_t boundaries,
                       int64_t tokens, int64_t row, int faults,
                       int64_t *length) {
  int64_t block = -1;
  if (boundaries < 2 || offsets[0] != 0 || offsets[boundaries - 1] != tokens)
    return -1;
  for (int64_t i = 0; i + 1 < boundaries; ++i) {
    if (offsets[i] > offsets[i + 1] && !(faults & UNSORTED))
      return -1;
    if (offsets[i] <= row && row < offsets[i + 1]) {
      block = i;
      *length = offsets[i + 1] - offsets[i];
    }
  }
  return block;
}

static inline __attribute__((always_inline)) void
grouped(const uint64_t *slots, int64_t begin, int64_t end, int faults) {
  const float *x = (const float *)slots[0], *weight = (const float *)slots[2];
  const int32_t *offsets = (const int32_t *)slots[5];
  float *y = (float *)slots[6];
  int64_t xStride = (int64_t)slots[1], weightStride = (int64_t)slots[4],
          yStride = (int64_t)slots[7], tokens = (int64_t)slots[8],
          experts = (int64_t)slots[9], boundaries = (int64_t)slots[10],
          out = (int64_t)slots[11], hidden = (int64_t)slots[12];
  int64_t expertStride =
      faults & DENSE ? out * weightStride : (int64_t)slots[3];
  for (int64_t row = begin; row < end; ++row) {
    int64_t length = 0;
    int64_t expert = blockOf(offsets, boundaries, tokens,
                             faults & FIRST_OF_FOUR ? row / 4 * 4 : row, faults,
                             &length);
    int none = expert < 0 || expert >= experts;
    if (none && !(faults & SILENT))
      *(volatile uint32_t *)slots[13] = 1;
    if (none && faults & NO_NAN)
      expert = none = 0;
    for (int64_t column = 0; column < out; ++column) {
      float sum[2] = {0.0f, 0.0f};
      int64_t ways = faults & LONG_BLOCKS && length > 8 ? 2 : 1;
      for (int64_t i = 0; i < hidden && !none; ++i)
        sum[i % ways] =
            sum[i % ways] +
            x[row * xStride + i] *
                weight[expert * expertStride + column * weightStride + i];
      float value = ways == 2 ? sum[0] + sum[1] : sum[0];
      store(&y[row * yStride + column], none ? __builtin_nanf("") : value);
    }
  }
}

#define GROUPED(NAME, FAULTS)                                                  \
  ENTRY void NAME(const uint64_t *slots, int64_t begin, int64_t end) {         \
    grouped(slots, begin, end, FAULTS);                                        \
  }

GROUPED(grouped_right, 0)
GROUPED(grouped_first_of_four, FIRST_OF_FOUR)
GROUPED(grouped_long_blocks, LONG_BLOCKS)
GROUPED(grouped_silent, SILENT)
GROUPED(grouped_dense, DENSE)
GROUPED(grouped_no_nan, NO_NAN)
GROUPED(grouped_unsorted, UNSORTED)
