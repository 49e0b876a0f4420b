// Lint.h - reads PTX instruction by instruction
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_LINT_H
#define BITPACT_CODEGEN_NVPTX_LINT_H

#include "codegen/Target/Lint.h"

namespace bitpact::codegen {

/// PTX is linted, not SASS: ptxas expands div.rn and sqrt.rn into exact
/// sequences that contain reciprocal approximations.
std::vector<LintFinding> lintPtx(llvm::StringRef ptx,
                                 const LintExpectation &expected,
                                 OpCounts *counts = nullptr);

} // namespace bitpact::codegen

#endif
