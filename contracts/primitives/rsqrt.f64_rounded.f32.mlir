// rsqrt.f64_rounded.f32.mlir - 1/sqrt(x) computed in f64 and rounded once to f32
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"rsqrt.f64_rounded.f32" function (%x: f32) -> f32 {
  %one = arith.constant 1.0 : f64
  %wide = arith.extf %x : f32 to f64
  %s = pact.sqrt %wide : f64
  %q = arith.divf %one, %s : f64
  %r = arith.truncf %q : f64 to f32
  pact.yield %r : f32
}
