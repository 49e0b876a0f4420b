// log.f32.mlir - the natural logarithm in f32, on every input
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// x = 2^e m with m in [2/3, 4/3), so that nothing cancels around 1; a subnormal
// x is first multiplied by 2^23. log x = e log(2) + log(1 + f), f = m - 1 exact.
// Zero, negative numbers, +Inf and NaN take their results at the end, past
// whatever their integer view gave.
pact.primitive @"log.f32" function (%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %normal = arith.constant 1.17549435e-38 : f32
  %two23 = arith.constant 8388608.0 : f32
  %m23 = arith.constant -23.0 : f32
  %tiny = arith.cmpf olt, %x, %normal : f32
  %up = arith.mulf %x, %two23 : f32
  %y = arith.select %tiny, %up, %x : f32
  %e0 = arith.select %tiny, %m23, %zero : f32

  %base = arith.constant 0x3f2aaaab : i32
  %mask = arith.constant 0xff800000 : i32
  %i23 = arith.constant 23 : i32
  %i = arith.bitcast %y : f32 to i32
  %j = arith.subi %i, %base : i32
  %exponent = arith.shrsi %j, %i23 : i32
  %field = arith.andi %j, %mask : i32
  %mi = arith.subi %i, %field : i32
  %m = arith.bitcast %mi : i32 to f32
  %e1 = arith.sitofp %exponent : i32 to f32
  %e = arith.addf %e1, %e0 : f32
  %f = arith.subf %m, %one : f32

  %c2 = arith.constant -0.5 : f32
  %c3 = arith.constant 0.333331972 : f32
  %c4 = arith.constant -0.249999195 : f32
  %c5 = arith.constant 0.20011434 : f32
  %c6 = arith.constant -0.166744515 : f32
  %c7 = arith.constant 0.139897048 : f32
  %c8 = arith.constant -0.122732677 : f32
  %c9 = arith.constant 0.140596285 : f32
  %c10 = arith.constant -0.124903433 : f32
  %q9 = pact.fma %c10, %f, %c9 : f32
  %q8 = pact.fma %q9, %f, %c8 : f32
  %q7 = pact.fma %q8, %f, %c7 : f32
  %q6 = pact.fma %q7, %f, %c6 : f32
  %q5 = pact.fma %q6, %f, %c5 : f32
  %q4 = pact.fma %q5, %f, %c4 : f32
  %q3 = pact.fma %q4, %f, %c3 : f32
  %q2 = pact.fma %q3, %f, %c2 : f32
  %square = arith.mulf %f, %f : f32
  %log1p = pact.fma %square, %q2, %f : f32
  %ln2 = arith.constant 0.693147182 : f32
  %finite = pact.fma %e, %ln2, %log1p : f32

  %inf = arith.constant 0x7f800000 : f32
  %minf = arith.constant 0xff800000 : f32
  %nan = arith.constant 0x7fc00000 : f32
  %is0 = arith.cmpf oeq, %x, %zero : f32
  %below = arith.cmpf olt, %x, %zero : f32
  %proper = arith.cmpf olt, %x, %inf : f32
  %r0 = arith.select %is0, %minf, %finite : f32
  %r1 = arith.select %below, %nan, %r0 : f32
  %r = arith.select %proper, %r1, %x : f32
  pact.yield %r : f32
}
