// Expansions.h - divisions and square roots in ISA text
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hardware has only approximations; LLVM's correctly rounded division and
// square root correct them by fma. What counts as one, by data flow through
// VGPRs (W is 32 or 64; `uses` sees through moves, and not what 64-bit integer
// operations use, which may be a stale half of a pair):
//
//   division     v_rcp_fW of a v_div_scale_fW; whatever uses it, directly or
//                not, is one of 5 v_fma/v_fmac_fW and 1 v_mul_fW, up to 1
//                v_div_fmas_fW, which a v_div_fixup_fW uses
//   f32 sqrt     v_sqrt_f32 that feeds v_add_u32 of -1 and of 1, each sum used
//                by one v_fma_f32 with the root; else only selected
//   f64 sqrt     v_rsq_f64 of a v_ldexp_f64; whatever uses it is one of 7
//                v_fma/v_fmac_f64 and 2 v_mul_f64, up to a v_ldexp_f64
#ifndef BITPACT_CODEGEN_AMDGPU_EXPANSIONS_H
#define BITPACT_CODEGEN_AMDGPU_EXPANSIONS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace bitpact::codegen {

struct GcnInstruction {
  llvm::StringRef text;   // with operands, without comment
  llvm::StringRef opcode; // without _e32, _e64
  llvm::SmallVector<llvm::StringRef, 6> operands;
  unsigned line = 0;
  bool opensFunction = false; // a label that is not local stands before it
  bool isDirective = false;

  /// Part of an expansion, which counts once, at its approximation.
  bool inExpansion = false;
  /// Why an approximation is not part of one; empty if it is.
  std::string refusal;

  bool is(llvm::StringRef name) const { return opcode == name; }
};

/// Instructions and directives, with expansions marked.
std::vector<GcnInstruction> parseGcn(llvm::StringRef text);

} // namespace bitpact::codegen

#endif
