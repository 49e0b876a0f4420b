// max.f32.mlir - IEEE 754-2019 maximum: NaN wins, +0 is above -0
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"max.f32" step max (%x: f32, %acc: f32) -> f32 {
  %r = arith.maximumf %acc, %x : f32
  pact.yield %r : f32
}
