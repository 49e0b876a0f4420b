// BrainFloats.h - bf16 becomes wider formats in integers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_BRAINFLOATS_H
#define BITPACT_CODEGEN_TARGET_BRAINFLOATS_H

#include "llvm/IR/Module.h"

namespace bitpact::codegen {

/// Replaces every conversion from bf16 by a shift, before anything optimises.
/// LLVM compares formats by the bits of their fractions alone: it computes a
/// sum of a bf16 and an f16 that is rounded to f16 in f16, although f16 does
/// not hold every bf16, and a product of two bf16 that is rounded to bf16 in
/// one rounding where the f32 between them has two.
void widenBrainFloatsInIntegers(llvm::Module &module);

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_TARGET_BRAINFLOATS_H
