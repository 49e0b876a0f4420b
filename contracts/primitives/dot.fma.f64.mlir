// dot.fma.f64.mlir - one IEEE fma: the product is exact, the sum is rounded
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"dot.fma.f64" step dot product "exact"
    (%a: f64, %b: f64, %acc: f64) -> f64 {
  %r = pact.fma %a, %b, %acc : f64
  pact.yield %r : f64
}
