// fake_cublaslt.c - a cuBLASLt in f32 on the host, with two algorithms
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Device memory is the host's, as that of fake_cuda.c. An algorithm's words are
   its settings; of them only split_k does anything. Its heuristic names two
   parts first. No algorithm takes more than 4,096 rows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct Layout {
  uint64_t rows, columns;
  int64_t stride;
  uint64_t type, unused[4];
};
struct Algorithm {
  uint8_t settings[9][7], last;
};
struct Heuristic {
  struct Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
_Static_assert(sizeof(struct Algorithm) == 64, "the library's size");

EXPORT size_t cublasLtGetVersion(void) { return 99; }
EXPORT const char *cublasLtGetStatusString(int status) {
  return status == 15 ? "FAKE_NOT_SUPPORTED" : "FAKE";
}
EXPORT int cublasLtCreate(void **handle) {
  *handle = malloc(1);
  return 0;
}
EXPORT int cublasLtDestroy(void *handle) {
  free(handle);
  return 0;
}
EXPORT int cublasLtMatmulDescCreate(void **desc, int compute, int scale) {
  *desc = calloc(5, sizeof(int));
  return compute == 68 && scale == 0 ? 0 : 7;
}
EXPORT int cublasLtMatmulDescDestroy(void *desc) {
  free(desc);
  return 0;
}
EXPORT int cublasLtMatmulDescSetAttribute(void *desc, int which,
                                          const void *value, size_t bytes) {
  memcpy((int *)desc + which, value, bytes);
  return bytes == 4 ? 0 : 7;
}
EXPORT int cublasLtMatrixLayoutInit_internal(struct Layout *layout, size_t size,
                                             int type, uint64_t rows,
                                             uint64_t columns, int64_t stride) {
  if (size != sizeof *layout || stride < (int64_t)rows)
    return 7;
  *layout = (struct Layout){rows, columns, stride, (uint64_t)type, {0}};
  return 0;
}
EXPORT int cublasLtMatmulAlgoConfigSetAttribute(struct Algorithm *algorithm,
                                                int which, const void *value,
                                                size_t bytes) {
  if (which < 1 || which > 8)
    return 7;
  memcpy(algorithm->settings[which], value, bytes);
  return 0;
}
EXPORT int
cublasLtMatmulAlgoConfigGetAttribute(const struct Algorithm *algorithm,
                                     int which, void *value, size_t bytes,
                                     size_t *written) {
  memcpy(value, algorithm->settings[which], bytes);
  *written = bytes;
  return which < 0 || which > 8 || bytes != (which < 7 ? 4 : 2) ? 7 : 0;
}
EXPORT int cublasLtMatmulAlgoCheck(void *handle, int *desc, struct Layout *a,
                                   struct Layout *b, struct Layout *c,
                                   struct Layout *d,
                                   const struct Algorithm *algorithm,
                                   struct Heuristic *result) {
  (void)handle;
  (void)c;
  if (desc[3] != 1 || desc[4] != 0 || a->rows != b->rows ||
      d->rows != a->columns || d->columns != b->columns)
    return 7;
  result->workspace =
      algorithm->settings[2][0] > 1 ? 4 * d->rows * d->columns : 0;
  return b->columns > 4096 || a->type || d->type ? 15 : 0;
}
EXPORT int cublasLtMatmulPreferenceInit_internal(void *preference,
                                                 size_t size) {
  memset(preference, 0, size);
  return size == 64 ? 0 : 7;
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int which,
                                                const void *value,
                                                size_t bytes) {
  (void)preference;
  (void)value;
  return bytes == (which == 1 ? 8 : 4) ? 0 : 7;
}
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, int *desc,
                                          struct Layout *a, struct Layout *b,
                                          struct Layout *c, struct Layout *d,
                                          void *preference, int most,
                                          struct Heuristic *found, int *count) {
  (void)preference;
  *count = 0;
  for (uint8_t parts = 2; parts > 0 && *count < most; --parts) {
    struct Heuristic *one = &found[*count];
    memset(one, 0, sizeof *one);
    one->algorithm.settings[0][0] = 66;
    one->algorithm.settings[2][0] = parts;
    one->algorithm.last = 1; /* which no setting shows */
    *count += !cublasLtMatmulAlgoCheck(handle, desc, a, b, c, d,
                                       &one->algorithm, one);
  }
  return 0;
}
EXPORT int cublasLtMatmul(void *handle, int *desc, const float *alpha,
                          const float *a, struct Layout *atA, const float *b,
                          struct Layout *atB, const float *beta, const float *c,
                          struct Layout *atC, float *d, struct Layout *atD,
                          const struct Algorithm *algorithm, void *workspace,
                          size_t workspaceBytes, void *stream) {
  (void)stream;
  struct Heuristic needs;
  int status = cublasLtMatmulAlgoCheck(handle, desc, atA, atB, atC, atD,
                                       algorithm, &needs);
  if (status || *alpha != 1 || *beta != 0 || c != d || algorithm->last != 1 ||
      needs.workspace > (workspace ? workspaceBytes : 0))
    return status ? status : 7;
  uint64_t depth = atA->rows, parts = algorithm->settings[2][0];
  for (uint64_t i = 0; i < atB->columns; ++i)
    for (uint64_t j = 0; j < atA->columns; ++j) {
      float all = 0;
      for (uint64_t part = 0; part < parts; ++part) {
        float sum = 0;
        for (uint64_t k = depth * part / parts; k < depth * (part + 1) / parts;
             ++k)
          sum += a[k + j * (uint64_t)atA->stride] *
                 b[k + i * (uint64_t)atB->stride];
        all = part ? all + sum : sum;
      }
      d[j + i * (uint64_t)atD->stride] = all;
    }
  return 0;
}
