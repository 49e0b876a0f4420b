// dot.mul_add.f32.mlir - the product is rounded to f32, then added
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"dot.mul_add.f32" step dot product "f32"
    (%a: f32, %b: f32, %acc: f32) -> f32 {
  %p = arith.mulf %a, %b : f32
  %r = arith.addf %acc, %p : f32
  pact.yield %r : f32
}
