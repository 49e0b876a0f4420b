// exp_diff.f32.mlir - e^(x-m) in f32, and 1 where x = m, infinities included
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The difference is rounded, then exp.f32, operation by operation.
pact.primitive @"exp_diff.f32" function (%x: f32, %m: f32) -> f32 {
  %d = arith.subf %x, %m : f32
  %low = arith.constant -104.0 : f32
  %high = arith.constant 89.0 : f32
  %H = arith.constant 1.44269502 : f32
  %L = arith.constant 1.92596303e-08 : f32
  %magic = arith.constant 12583166.0 : f32
  %above = arith.maximumf %d, %low : f32
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
  %same = arith.cmpf oeq, %x, %m : f32
  %w = arith.select %same, %one, %r : f32
  pact.yield %w : f32
}
