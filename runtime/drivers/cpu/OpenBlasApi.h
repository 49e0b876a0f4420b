// OpenBlasApi.h - OpenBLAS's functions, found at run time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_CPU_OPENBLASAPI_H
#define BITPACT_RUNTIME_DRIVERS_CPU_OPENBLASAPI_H

#include <string>

namespace bitpact::drivers::openblas {

// Values of cblas.h.
enum : int { rowMajor = 101, noTranspose = 111, transpose = 112 };

template <typename T>
using Gemm = void (*)(int, int, int, int, int, int, T, const T *, int,
                      const T *, int, T, T *, int);

struct Api {
  std::string version; // "OpenBLAS 0.3.21 NO_AFFINITY ...", as it was built
  std::string core;    // the processor whose kernels it has chosen: "Haswell"
  int (*threads)() = nullptr; // as of now
  Gemm<float> single = nullptr;
  Gemm<double> twice = nullptr;

  // Loaded once for the process. Null, with the loader's reason in `why`,
  // where there is none.
  static const Api *find(std::string &why);
};

} // namespace bitpact::drivers::openblas

#endif // BITPACT_RUNTIME_DRIVERS_CPU_OPENBLASAPI_H
