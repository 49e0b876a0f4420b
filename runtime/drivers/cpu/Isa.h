// Isa.h - which instruction set levels this processor runs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_CPU_ISA_H
#define BITPACT_RUNTIME_DRIVERS_CPU_ISA_H

#include <string>
#include <vector>

namespace bitpact::drivers {

// Best first; what the operating system has enabled, by cpuid.
std::vector<std::string> hostLevels();
std::string hostDescription();

} // namespace bitpact::drivers

#endif // BITPACT_RUNTIME_DRIVERS_CPU_ISA_H
