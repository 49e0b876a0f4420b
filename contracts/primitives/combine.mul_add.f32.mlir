// combine.mul_add.f32.mlir - two sums to one scale, each product rounded
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"combine.mul_add.f32" function
    (%la: f32, %ra: f32, %lb: f32, %rb: f32) -> f32 {
  %a = arith.mulf %la, %ra : f32
  %b = arith.mulf %lb, %rb : f32
  %r = arith.addf %a, %b : f32
  pact.yield %r : f32
}
