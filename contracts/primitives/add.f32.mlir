// add.f32.mlir - one IEEE addition: the step of a sum in f32
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

pact.primitive @"add.f32" step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
