// rsqrt.div_sqrt.f32.mlir - 1/sqrt(x), both operations IEEE
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"rsqrt.div_sqrt.f32" function (%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %s = pact.sqrt %x : f32
  %r = arith.divf %one, %s : f32
  pact.yield %r : f32
}
