// combine.fma.f32.mlir - two sums to one scale, the first product exact
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"combine.fma.f32" function
    (%la: f32, %ra: f32, %lb: f32, %rb: f32) -> f32 {
  %b = arith.mulf %lb, %rb : f32
  %r = pact.fma %la, %ra, %b : f32
  pact.yield %r : f32
}
