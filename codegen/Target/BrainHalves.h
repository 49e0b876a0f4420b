// BrainHalves.h - bf16 in halves of registers, on NVIDIA GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_BRAINHALVES_H
#define BITPACT_CODEGEN_TARGET_BRAINHALVES_H

#include "llvm/IR/Module.h"

namespace bitpact::codegen {

/// Before anything optimises, in modules for NVIDIA GPUs: a register of 32 bits
/// holds two bf16, or one above zeros, which is the same value in f32.
/// Roundings that are computed with are left above zeros, those that are stored
/// together are made two at a time, and what is loaded is taken out of its half
/// without being moved first. Bits are those of the operations that were there,
/// but for the payload of a NaN that is not stored.
void keepBrainFloatsInHalves(llvm::Module &module);

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_TARGET_BRAINHALVES_H
