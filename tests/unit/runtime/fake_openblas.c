// fake_openblas.c - a BLAS whose order, version and threads a test chooses
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* FAKE_BLAS is "halves", "nan", "fma", or what adds one element after the other,
   each product rounded; FAKE_BLAS_VERSION and FAKE_BLAS_THREADS say themselves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value ? value : otherwise;
}

EXPORT const char *openblas_get_config(void) {
  return setting("FAKE_BLAS_VERSION", "FakeBLAS 1.0");
}
EXPORT const char *openblas_get_corename(void) { return "Abacus"; }
EXPORT int openblas_get_num_threads(void) {
  return atoi(setting("FAKE_BLAS_THREADS", "1"));
}

#define PART(T, fused)                                                         \
  static T part##T(const T *x, const T *w, int begin, int end, int isFused) {  \
    T sum = 0;                                                                 \
    for (int i = begin; i < end; ++i)                                          \
      sum = isFused ? fused(x[i], w[i], sum) : sum + x[i] * w[i];              \
    return sum;                                                                \
  }
PART(float, fmaf)
PART(double, fma)

#define GEMM(T, name)                                                          \
  EXPORT void name(int order, int transA, int transB, int m, int n, int k,     \
                   T alpha, const T *a, int lda, const T *b, int ldb, T beta,  \
                   T *c, int ldc) {                                            \
    if (order != 101 || transA != 111 || transB != 112 || alpha != 1 || beta)  \
      abort();                                                                 \
    const char *way = setting("FAKE_BLAS", "");                                \
    int cut = strcmp(way, "halves") ? 0 : k / 2;                               \
    int isFused = !strcmp(way, "fma");                                         \
    for (int i = 0; i < m; ++i)                                                \
      for (int j = 0; j < n; ++j) {                                            \
        const T *x = a + (size_t)i * lda, *w = b + (size_t)j * ldb;            \
        T sum = part##T(x, w, cut, k, isFused);                                \
        if (cut)                                                               \
          sum = part##T(x, w, 0, cut, isFused) + sum;                          \
        if (!strcmp(way, "nan") && isnan(sum))                                 \
          sum = -(T)NAN;                                                       \
        c[(size_t)i * ldc + j] = sum;                                          \
      }                                                                        \
  }
GEMM(float, cblas_sgemm)
GEMM(double, cblas_dgemm)
