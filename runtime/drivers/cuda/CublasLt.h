// CublasLt.h - products by a pinned algorithm of cuBLASLt
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_CUDA_CUBLASLT_H
#define BITPACT_RUNTIME_DRIVERS_CUDA_CUBLASLT_H

#include "runtime/drivers/Driver.h"

namespace bitpact::drivers::cublaslt {

// Needs a current context, as do launches. Throws BITPACT_MISSING_LIBRARY
// unless version and device are those of the pin.
std::unique_ptr<Code> makeCode(const package::Variant &variant,
                               const std::string &bytes,
                               const std::string &device);

} // namespace bitpact::drivers::cublaslt

#endif // BITPACT_RUNTIME_DRIVERS_CUDA_CUBLASLT_H
