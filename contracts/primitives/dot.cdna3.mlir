// dot.cdna3.mlir - the fused bf16 and f16 steps of AMD's CDNA3 matrix units
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One MFMA 32x32x8; a 16x16x16 is two of them, chained.
pact.atom @"dot.cdna3" dot product "exact" model "dot.cdna3" L 8 F 24
  : (bf16, bf16, f32) -> f32
pact.atom @"dot.cdna3.f16" dot product "exact" model "dot.cdna3" L 8 F 24
  : (f16, f16, f32) -> f32
