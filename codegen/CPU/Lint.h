// Lint.h - disassembles an object for a CPU and reads every instruction
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_LINT_H
#define BITPACT_CODEGEN_CPU_LINT_H

#include "codegen/Target/Lint.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace bitpact::codegen {

std::vector<LintFinding> lintX86(llvm::ArrayRef<uint8_t> object,
                                 const LintExpectation &expected,
                                 OpCounts *counts = nullptr);

/// Armv8.0-A; what later levels brought is read and refused.
std::vector<LintFinding> lintAArch64(llvm::ArrayRef<uint8_t> object,
                                     const LintExpectation &expected,
                                     OpCounts *counts = nullptr);

} // namespace bitpact::codegen

#endif
