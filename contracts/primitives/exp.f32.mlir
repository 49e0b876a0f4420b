// exp.f32.mlir - e^x in f32, 19 operations, on every input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// e^x = 2^n 2^f with n the integer nearest to x log2(e). 12583166 = 1.5 2^23
// + 254 rounds to an integer and leaves n + 254 in the low bits, half of which
// is the biased exponent of 2^(n/2): two factors, so that both ends of the
// range are rounded once. log2(e) = H + L, and f is exact but for L.
// A NaN is NaN in p, whatever its integer view gives as factors.
pact.primitive @"exp.f32" function (%x: f32) -> f32 {
  %low = arith.constant -104.0 : f32
  %high = arith.constant 89.0 : f32
  %H = arith.constant 1.44269502 : f32
  %L = arith.constant 1.92596303e-08 : f32
  %magic = arith.constant 12583166.0 : f32
  %above = arith.maximumf %x, %low : f32
  %c = arith.minimumf %above, %high : f32
  %t = pact.fma %c, %H, %magic : f32
  %n = arith.subf %t, %magic : f32
  %minus = arith.negf %n : f32
  %f0 = pact.fma %c, %H, %minus : f32
  %f = pact.fma %c, %L, %f0 : f32

  %one = arith.constant 1.0 : f32
  %c1 = arith.constant 0.693147242 : f32
  %c2 = arith.constant 0.240226552 : f32
  %c3 = arith.constant 0.0555027276 : f32
  %c4 = arith.constant 0.00961702503 : f32
  %c5 = arith.constant 0.00134185178 : f32
  %c6 = arith.constant 0.000158378753 : f32
  %p5 = pact.fma %c6, %f, %c5 : f32
  %p4 = pact.fma %p5, %f, %c4 : f32
  %p3 = pact.fma %p4, %f, %c3 : f32
  %p2 = pact.fma %p3, %f, %c2 : f32
  %p1 = pact.fma %p2, %f, %c1 : f32
  %p = pact.fma %p1, %f, %one : f32

  %i1 = arith.constant 1 : i32
  %i23 = arith.constant 23 : i32
  %k = arith.bitcast %t : f32 to i32
  %half = arith.shrui %k, %i1 : i32
  %rest = arith.subi %k, %half : i32
  %b1 = arith.shli %half, %i23 : i32
  %b2 = arith.shli %rest, %i23 : i32
  %s1 = arith.bitcast %b1 : i32 to f32
  %s2 = arith.bitcast %b2 : i32 to f32
  %scaled = arith.mulf %p, %s1 : f32
  %r = arith.mulf %scaled, %s2 : f32
  pact.yield %r : f32
}
