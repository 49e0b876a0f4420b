// OpenBlas.h - products by OpenBLAS
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_CPU_OPENBLAS_H
#define BITPACT_RUNTIME_DRIVERS_CPU_OPENBLAS_H

#include "runtime/drivers/Driver.h"

namespace bitpact::drivers::openblas {

// Throws BITPACT_MISSING_LIBRARY unless version, core and number of
// threads are those of the pin.
std::unique_ptr<Code> makeCode(const package::Variant &variant,
                               const std::string &bytes);

} // namespace bitpact::drivers::openblas

#endif // BITPACT_RUNTIME_DRIVERS_CPU_OPENBLAS_H
