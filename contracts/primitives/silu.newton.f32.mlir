// silu.newton.f32.mlir - x/(1 + e^-x) in f32 without a division, within 2^-17
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// For results that become bf16 or f16. u = 1 + 2^n 2^f with a polynomial of
// degree 4. 1/u: the bits of u subtracted from a constant are within 6 % of it,
// a step with k = z + 1/z, z the least u r of that guess, within 2^-9, and a
// step of Newton's within 2^-18. The least u r is at powers of two, so that
// their reciprocals are exact: a large x is itself, a small one x/2. From -86
// down the result stays at that of -86, -3.8e-36: u has no room for more. A NaN
// is a factor of the result, whatever its integer view gives as the other.
pact.primitive @"silu.newton.f32" function (%x: f32) -> f32 {
  %low = arith.constant -86.0 : f32
  %high = arith.constant 86.0 : f32
  %m = arith.maximumf %x, %low : f32
  %c = arith.minimumf %m, %high : f32
  %H = arith.constant -1.44269502 : f32
  %magic = arith.constant 12583039.0 : f32
  %t = pact.fma %c, %H, %magic : f32
  %n = arith.subf %t, %magic : f32
  %minus = arith.negf %n : f32
  %f = pact.fma %c, %H, %minus : f32

  %one = arith.constant 1.0 : f32
  %c1 = arith.constant 0.693113625 : f32
  %c2 = arith.constant 0.240207136 : f32
  %c3 = arith.constant 0.0559765249 : f32
  %c4 = arith.constant 0.00978223979 : f32
  %p3 = pact.fma %c4, %f, %c3 : f32
  %p2 = pact.fma %p3, %f, %c2 : f32
  %p1 = pact.fma %p2, %f, %c1 : f32
  %p = pact.fma %p1, %f, %one : f32

  %i23 = arith.constant 23 : i32
  %i = arith.bitcast %t : f32 to i32
  %b = arith.shli %i, %i23 : i32
  %s = arith.bitcast %b : i32 to f32
  %u = pact.fma %p, %s, %one : f32

  %near = arith.constant 2129993728 : i32
  %k = arith.constant 2.0018847 : f32
  %v = arith.bitcast %u : f32 to i32
  %w = arith.subi %near, %v : i32
  %r0 = arith.bitcast %w : i32 to f32
  %less = arith.negf %u : f32
  %d0 = pact.fma %less, %r0, %k : f32
  %r1 = arith.mulf %r0, %d0 : f32
  %d1 = pact.fma %less, %r1, %one : f32
  %r2 = pact.fma %r1, %d1, %r1 : f32
  %y = arith.mulf %m, %r2 : f32
  pact.yield %y : f32
}
