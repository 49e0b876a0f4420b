// CublasLtApi.h - cuBLASLt's functions, found at run time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declared here, so that neither building nor starting needs the library.
#ifndef BITPACT_RUNTIME_DRIVERS_CUDA_CUBLASLTAPI_H
#define BITPACT_RUNTIME_DRIVERS_CUDA_CUBLASLTAPI_H

#include "runtime/package/Format.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace bitpact::drivers::cublaslt {

using Status = int; // 0 is success
using Handle = struct HandleTag *;
using Desc = struct DescTag *;
// Sizes of the library's opaque structs, which it is told.
struct Layout {
  uint64_t opaque[8];
};
struct Algorithm {
  uint64_t opaque[8];
};
struct Preference {
  uint64_t opaque[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

// Values of the library's enums that are used here.
enum : int {
  computeF32 = 68,
  scaleF32 = 0,
  descTransposeA = 3,
  descTransposeB = 4,
  operationNone = 0,
  operationTranspose = 1,
  preferenceWorkspace = 1,
  preferenceAlignA = 5, // B, C and D follow
};
int dataType(package::ElementType type);

// An attribute of an algorithm's configuration, in the order in which the
// library numbers them.
struct Setting {
  const char *name;
  int attribute;
  size_t bytes;
};
inline constexpr Setting settings[] = {
    {"id", 0, 4},        {"tile", 1, 4},    {"split_k", 2, 4},
    {"reduction", 3, 4}, {"swizzle", 4, 4}, {"custom", 5, 4},
    {"stages", 6, 4},    {"inner", 7, 2},   {"cluster", 8, 2}};

// X(member, symbol, parameters)
#define BITPACT_CUBLASLT_FUNCTIONS(X)                                          \
  X(create, cublasLtCreate, (Handle *))                                        \
  X(destroy, cublasLtDestroy, (Handle))                                        \
  X(descCreate, cublasLtMatmulDescCreate, (Desc *, int, int))                  \
  X(descDestroy, cublasLtMatmulDescDestroy, (Desc))                            \
  X(descSet, cublasLtMatmulDescSetAttribute,                                   \
    (Desc, int, const void *, size_t))                                         \
  X(layoutInit, cublasLtMatrixLayoutInit_internal,                             \
    (Layout *, size_t, int, uint64_t, uint64_t, int64_t))                      \
  X(algorithmSet, cublasLtMatmulAlgoConfigSetAttribute,                        \
    (Algorithm *, int, const void *, size_t))                                  \
  X(algorithmGet, cublasLtMatmulAlgoConfigGetAttribute,                        \
    (const Algorithm *, int, void *, size_t, size_t *))                        \
  X(algorithmCheck, cublasLtMatmulAlgoCheck,                                   \
    (Handle, Desc, Layout *, Layout *, Layout *, Layout *, const Algorithm *,  \
     Heuristic *))                                                             \
  X(preferenceInit, cublasLtMatmulPreferenceInit_internal,                     \
    (Preference *, size_t))                                                    \
  X(preferenceSet, cublasLtMatmulPreferenceSetAttribute,                       \
    (Preference *, int, const void *, size_t))                                 \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                 \
    (Handle, Desc, Layout *, Layout *, Layout *, Layout *, Preference *, int,  \
     Heuristic *, int *))                                                      \
  X(matmul, cublasLtMatmul,                                                    \
    (Handle, Desc, const void *, const void *, Layout *, const void *,         \
     Layout *, const void *, const void *, Layout *, void *, Layout *,         \
     const Algorithm *, void *, size_t, void *))

struct Api {
#define BITPACT_CUBLASLT_MEMBER(member, symbol, parameters)                    \
  Status(*member) parameters = nullptr;
  BITPACT_CUBLASLT_FUNCTIONS(BITPACT_CUBLASLT_MEMBER)
#undef BITPACT_CUBLASLT_MEMBER
  size_t (*versionNumber)() = nullptr;
  const char *(*statusText)(Status) = nullptr;

  // "130101"
  std::string version() const { return std::to_string(versionNumber()); }
  // Throws BITPACT_DRIVER_ERROR unless success.
  void check(Status status, const char *what) const;

  // Loaded once for the process, the newest that is there. Null, with the
  // loader's reason in `why`, where there is none.
  static const Api *find(std::string &why);
};

// The matrices of a product as the library sees them, columns first: its
// result [n, m] by columns is ours [m, n] by rows.
struct Layouts {
  Layout columns, rows, result;
};
struct Shape {
  int64_t m, n, k, rowsStride, columnsStride, resultStride;
};
Layouts layouts(const Api &api, package::ElementType operands,
                package::ElementType result, const Shape &shape);
// Throws unless success. The caller destroys it.
Desc makeDesc(const Api &api);

std::map<std::string, int64_t> settingsOf(const Api &api,
                                          const Algorithm &algorithm);
// "id=66 tile=36 split_k=1 ...", in the library's order.
std::string settingsText(const std::map<std::string, int64_t> &settings);
// An algorithm's bytes as hexadecimal digits, which the library promises to
// take back in the same version; false if they are not so many.
std::string stored(const Algorithm &algorithm);
bool restore(const std::string &digits, Algorithm &algorithm);

} // namespace bitpact::drivers::cublaslt

#endif // BITPACT_RUNTIME_DRIVERS_CUDA_CUBLASLTAPI_H
