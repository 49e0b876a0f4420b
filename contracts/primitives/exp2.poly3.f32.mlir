// exp2.poly3.f32.mlir - 2^x in f32, cheaply, on every input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A polynomial of degree 3, and one factor 2^(n-1) on coefficients of twice
// 2^f, so that its exponent fits up to n = 128. Integers give exact powers.
// Below -125.5 the factor is 0 and so is the result. A NaN is NaN in p,
// whatever its integer view gives as a factor.
pact.primitive @"exp2.poly3.f32" function (%x: f32) -> f32 {
  %low = arith.constant -126.0 : f32
  %high = arith.constant 128.0 : f32
  %above = arith.maximumf %x, %low : f32
  %c = arith.minimumf %above, %high : f32
  %magic = arith.constant 12583038.0 : f32
  %t = arith.addf %c, %magic : f32
  %n = arith.subf %t, %magic : f32
  %f = arith.subf %c, %n : f32

  %c0 = arith.constant 2.0 : f32
  %c1 = arith.constant 1.39153361 : f32
  %c2 = arith.constant 0.484061033 : f32
  %c3 = arith.constant 0.0833976567 : f32
  %p2 = pact.fma %c3, %f, %c2 : f32
  %p1 = pact.fma %p2, %f, %c1 : f32
  %p = pact.fma %p1, %f, %c0 : f32

  %i23 = arith.constant 23 : i32
  %k = arith.bitcast %t : f32 to i32
  %b = arith.shli %k, %i23 : i32
  %s = arith.bitcast %b : i32 to f32
  %r = arith.mulf %p, %s : f32
  pact.yield %r : f32
}
