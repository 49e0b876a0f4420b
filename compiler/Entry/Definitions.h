// Definitions.h - where the compiler finds the shipped definitions
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_ENTRY_DEFINITIONS_H
#define BITPACT_COMPILER_ENTRY_DEFINITIONS_H

#include <string>

namespace bitpact::entry {

/// ../share/bitpact/contracts, seen from the directory of this library.
std::string definitionsDirectory();

} // namespace bitpact::entry

#endif // BITPACT_COMPILER_ENTRY_DEFINITIONS_H
