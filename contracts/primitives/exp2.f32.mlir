// exp2.f32.mlir - 2^x in f32, on every input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2^x = 2^n 2^f with n the integer nearest to x; all but the reduction is that
// of exp.f32. Outside [-151, 128] the result is 0 or +Inf already at the edge.
pact.primitive @"exp2.f32" function (%x: f32) -> f32 {
  %low = arith.constant -151.0 : f32
  %high = arith.constant 128.0 : f32
  %above = arith.maximumf %x, %low : f32
  %c = arith.minimumf %above, %high : f32
  %magic = arith.constant 12583166.0 : f32
  %t = arith.addf %c, %magic : f32
  %n = arith.subf %t, %magic : f32
  %f = arith.subf %c, %n : f32

  %c0 = arith.constant 1.0 : f32
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
  %p = pact.fma %p1, %f, %c0 : f32

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
