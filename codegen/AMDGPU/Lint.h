// Lint.h - ISA text against the contract's expectation
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_AMDGPU_LINT_H
#define BITPACT_CODEGEN_AMDGPU_LINT_H

#include "codegen/Target/Lint.h"

namespace bitpact::codegen {

/// Rules L3 to L8 and L10 to L12 on the assembly text of gfx90a, gfx942 and
/// gfx950. v_rcp, v_sqrt and v_rsq are approximate: they may stand only in the
/// expansions that make a correctly rounded division or square root of them,
/// which Expansions.h defines. The operations of an expansion count as the one
/// that it is. `counts`, if given, receives what was counted.
std::vector<LintFinding> lintGcn(llvm::StringRef text,
                                 const LintExpectation &expected,
                                 OpCounts *counts = nullptr);

} // namespace bitpact::codegen

#endif
