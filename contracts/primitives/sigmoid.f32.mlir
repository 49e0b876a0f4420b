// sigmoid.f32.mlir - 1/(1 + e^-x) in f32, on every input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// With e = e^-|x|, which neither overflows nor cancels: 1/(1+e) or e/(1+e).
// e is found as in exp_below.f32.
pact.primitive @"sigmoid.f32" function (%x: f32) -> f32 {
  %negative = arith.negf %x : f32
  %a = arith.minimumf %x, %negative : f32
  %low = arith.constant -104.0 : f32
  %c = arith.maximumf %a, %low : f32
  %H = arith.constant 1.44269502 : f32
  %L = arith.constant 1.92596303e-08 : f32
  %magic = arith.constant 12583103.0 : f32
  %t = pact.fma %c, %H, %magic : f32
  %n = arith.subf %t, %magic : f32
  %minus = arith.negf %n : f32
  %f0 = pact.fma %c, %H, %minus : f32
  %f = pact.fma %c, %L, %f0 : f32

  %c0 = arith.constant 5.42101086e-20 : f32
  %c1 = arith.constant 3.75755873e-20 : f32
  %c2 = arith.constant 1.30227075e-20 : f32
  %c3 = arith.constant 3.00880889e-21 : f32
  %c4 = arith.constant 5.21339972e-22 : f32
  %c5 = arith.constant 7.27419306e-23 : f32
  %c6 = arith.constant 8.58572938e-24 : f32
  %p5 = pact.fma %c6, %f, %c5 : f32
  %p4 = pact.fma %p5, %f, %c4 : f32
  %p3 = pact.fma %p4, %f, %c3 : f32
  %p2 = pact.fma %p3, %f, %c2 : f32
  %p1 = pact.fma %p2, %f, %c1 : f32
  %p = pact.fma %p1, %f, %c0 : f32

  %i23 = arith.constant 23 : i32
  %k = arith.bitcast %t : f32 to i32
  %b = arith.shli %k, %i23 : i32
  %s = arith.bitcast %b : i32 to f32
  %e = arith.mulf %p, %s : f32

  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %right = arith.cmpf oge, %x, %zero : f32
  %over = arith.select %right, %one, %e : f32
  %under = arith.addf %e, %one : f32
  %r = arith.divf %over, %under : f32
  pact.yield %r : f32
}
