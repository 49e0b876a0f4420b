// max.f64.mlir - IEEE 754-2019 maximum: NaN wins, +0 is above -0
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"max.f64" step max (%x: f64, %acc: f64) -> f64 {
  %r = arith.maximumf %acc, %x : f64
  pact.yield %r : f64
}
