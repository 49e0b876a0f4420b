// rsqrt.div_sqrt.f64.mlir - 1/sqrt(x), both operations IEEE
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"rsqrt.div_sqrt.f64" function (%x: f64) -> f64 {
  %one = arith.constant 1.0 : f64
  %s = pact.sqrt %x : f64
  %r = arith.divf %one, %s : f64
  pact.yield %r : f64
}
