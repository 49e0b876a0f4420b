// add.f64.mlir - one IEEE addition: the step of a sum in f64
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"add.f64" step sum (%x: f64, %acc: f64) -> f64 {
  %r = arith.addf %acc, %x : f64
  pact.yield %r : f64
}
