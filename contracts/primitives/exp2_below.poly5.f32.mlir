// exp2_below.poly5.f32.mlir - 2^min(x-m, 0) in f32, cheaply
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// exp2_below.f32 with a polynomial of degree 5.
pact.primitive @"exp2_below.poly5.f32" function (%x: f32, %m: f32) -> f32 {
  %low = arith.constant -151.0 : f32
  %d = arith.subf %x, %m : f32
  %c = arith.maximumf %d, %low : f32
  %magic = arith.constant 12583103.0 : f32
  %t = arith.addf %c, %magic : f32
  %n = arith.subf %t, %magic : f32
  %f = arith.subf %c, %n : f32

  %c0 = arith.constant 5.42101086e-20 : f32
  %c1 = arith.constant 3.75753482e-20 : f32
  %c2 = arith.constant 1.30225427e-20 : f32
  %c3 = arith.constant 3.01267055e-21 : f32
  %c4 = arith.constant 5.2401286e-22 : f32
  %c5 = arith.constant 6.03122532e-23 : f32
  %p4 = pact.fma %c5, %f, %c4 : f32
  %p3 = pact.fma %p4, %f, %c3 : f32
  %p2 = pact.fma %p3, %f, %c2 : f32
  %p1 = pact.fma %p2, %f, %c1 : f32
  %p = pact.fma %p1, %f, %c0 : f32

  %i23 = arith.constant 23 : i32
  %k = arith.bitcast %t : f32 to i32
  %b = arith.shli %k, %i23 : i32
  %s = arith.bitcast %b : i32 to f32
  %r = arith.mulf %p, %s : f32

  %one = arith.constant 1.0 : f32
  %top = arith.cmpf oge, %x, %m : f32
  %w = arith.select %top, %one, %r : f32
  pact.yield %w : f32
}
