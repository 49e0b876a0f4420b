// dot.nv.mlir - the fused bf16 and f16 steps of NVIDIA matrix units
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hopper wgmma and mma.sync k16, Blackwell.
pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25
  : (bf16, bf16, f32) -> f32
pact.atom @"dot.nv(16,25).f16" dot product "exact" model "dot.nv" L 16 F 25
  : (f16, f16, f32) -> f32

// Hopper mma.sync k8.
pact.atom @"dot.nv(8,25)" dot product "exact" model "dot.nv" L 8 F 25
  : (bf16, bf16, f32) -> f32
pact.atom @"dot.nv(8,25).f16" dot product "exact" model "dot.nv" L 8 F 25
  : (f16, f16, f32) -> f32

// Ampere, Ada.
pact.atom @"dot.nv(8,24)" dot product "exact" model "dot.nv" L 8 F 24
  : (bf16, bf16, f32) -> f32
pact.atom @"dot.nv(8,24).f16" dot product "exact" model "dot.nv" L 8 F 24
  : (f16, f16, f32) -> f32
