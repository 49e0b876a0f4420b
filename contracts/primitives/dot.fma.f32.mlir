// dot.fma.f32.mlir - one IEEE fma: the product is exact, the sum is rounded
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"dot.fma.f32" step dot product "exact"
    (%a: f32, %b: f32, %acc: f32) -> f32 {
  %r = pact.fma %a, %b, %acc : f32
  pact.yield %r : f32
}
