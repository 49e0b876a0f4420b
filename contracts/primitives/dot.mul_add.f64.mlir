// dot.mul_add.f64.mlir - the product is rounded to f64, then added
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"dot.mul_add.f64" step dot product "f64"
    (%a: f64, %b: f64, %acc: f64) -> f64 {
  %p = arith.mulf %a, %b : f64
  %r = arith.addf %acc, %p : f64
  pact.yield %r : f64
}
