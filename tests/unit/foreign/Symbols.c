// Symbols.c - sums in known orders, and what a symbol must not do
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

float chain_sum(int64_t n, const float *x) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += x[i];
  return sum;
}

// Two accumulators, for the even and the odd positions.
void two_sums(const int32_t *n, const float *x, float *out) {
  float even = 0, odd = 0;
  for (int32_t i = 0; i < *n; ++i)
    *(i % 2 ? &odd : &even) += x[i];
  *out = even + odd;
}

double fma_dot(int32_t n, const double *x, int32_t incx, const double *y,
               int32_t incy) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    sum = fma(x[i * incx], y[i * incy], sum);
  return sum;
}

// bf16 is truncated f32; the sum is returned as its bits.
uint16_t brain_sum(int64_t n, const uint16_t *x) {
  union {
    uint32_t bits;
    float value;
  } one, sum = {0};
  for (int64_t i = 0; i < n; ++i) {
    one.bits = (uint32_t)x[i] << 16;
    sum.value += one.value;
  }
  return (uint16_t)(sum.bits >> 16);
}

// c = alpha * op(a) * op(b) + beta * c, row-major or column-major.
void plain_gemm(int order, int transa, int transb, int m, int n, int k,
                float alpha, const float *a, int lda, const float *b, int ldb,
                float beta, float *c, int ldc) {
  int column = order == 102;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[(transa == 112) == column ? i * lda + l : l * lda + i] *
               b[(transb == 112) == column ? l * ldb + j : j * ldb + l];
      float *out = &c[column ? j * ldc + i : i * ldc + j];
      *out = alpha * sum + beta * *out;
    }
}

// From 4 rows on, a row has two accumulators: the rows of a batch choose the
// order in which one row is added.
void switching_gemv(int64_t m, int64_t n, const float *a, const float *x,
                    float *y) {
  for (int64_t i = 0; i < m; ++i) {
    float even = 0, odd = 0;
    for (int64_t j = 0; j < n; ++j)
      *(m >= 4 && j % 2 ? &odd : &even) += a[i * n + j] * x[j];
    y[i] = even + odd;
  }
}

float crashes(int64_t n, const float *x) {
  return n > 4 ? *(volatile float *)8 : chain_sum(n, x);
}

float aborts(int64_t n, const float *x) { abort(); }

float leaves(int64_t n, const float *x) {
  fprintf(stderr, "unlicensed\n");
  exit(3);
}

float hangs(int64_t n, const float *x) {
  for (;;)
    pause();
}

float prints(int64_t n, const float *x) {
  printf("summing %d\n", (int)n);
  return chain_sum(n, x);
}

float reads_beyond(int64_t n, const float *x) { return chain_sum(n + 1, x); }

float reads_far_beyond(int64_t n, const float *x) {
  return chain_sum(n + 4096, x);
}

void writes_beyond(int64_t n, const float *x, float *out) {
  out[0] = chain_sum(n, x);
  out[1] = 0;
}

float changes_x(int64_t n, float *x) {
  float sum = chain_sum(n, x);
  x[0] = 0;
  return sum;
}

float drifts(int64_t n, const float *x) {
  static int calls;
  return chain_sum(n, x) + (float)(calls++);
}
