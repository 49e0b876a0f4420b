// definitions-errors.mlir - rules F8 to F10
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --verify-diagnostics --split-input-file

pact.primitive @f function (%x: f32) -> f32 {
  // expected-error @+1 {{is not an exactly defined operation; a primitive holds pact.fma, pact.sqrt and IEEE or integer arith operations [F8]}}
  %r = arith.remf %x, %x : f32
  pact.yield %r : f32
}

// -----

pact.primitive @f function (%x: f32) -> f32 {
  // expected-error @+1 {{carries fast-math flags, which would leave its bits open [F8]}}
  %r = arith.addf %x, %x fastmath<reassoc> : f32
  pact.yield %r : f32
}

// -----

pact.primitive @f function (%x: f32) -> f32 {
  %i = arith.bitcast %x : f32 to i32
  // expected-error @+1 {{carries overflow flags, which would leave its bits open [F8]}}
  %j = arith.addi %i, %i overflow<nsw> : i32
  %r = arith.bitcast %j : i32 to f32
  pact.yield %r : f32
}

// -----

pact.primitive @f function (%x: f32) -> f32 {
  %one = arith.constant 1 : i32
  %i = arith.bitcast %x : f32 to i32
  // expected-error @+1 {{is marked exact, which would leave its bits open [F8]}}
  %j = arith.shrui %i, %one exact : i32
  %r = arith.bitcast %j : i32 to f32
  pact.yield %r : f32
}

// -----

// A shift by the width is poison to LLVM and 0 to a machine.
pact.primitive @f function (%x: f32) -> f32 {
  %width = arith.constant 32 : i32
  %i = arith.bitcast %x : f32 to i32
  // expected-error @+1 {{shifts by something else than a constant below the width [F8]}}
  %j = arith.shli %i, %width : i32
  %r = arith.bitcast %j : i32 to f32
  pact.yield %r : f32
}

// -----

pact.primitive @f function (%x: f32) -> f32 {
  %i = arith.bitcast %x : f32 to i32
  // expected-error @+1 {{shifts by something else than a constant below the width [F8]}}
  %j = arith.shrsi %i, %i : i32
  %r = arith.bitcast %j : i32 to f32
  pact.yield %r : f32
}

// -----

pact.primitive @f function (%x: f64) -> f32 {
  // expected-error @+1 {{names a rounding mode; every rounding is to nearest even [F8]}}
  %r = arith.truncf %x upward : f64 to f32
  pact.yield %r : f32
}

// -----

pact.primitive @f function (%x: f32) -> f32 {
  // expected-error @+1 {{has a result of type 'f128'; allowed are f64, f32, f16, bf16, i64, i32, i16 and i1 [F8]}}
  %r = arith.extf %x : f32 to f128
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{has 2 results; a primitive has one [F9]}}
pact.primitive @f function (%x: f32) -> (f32, f32) {
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{has an argument or result of type 'i32'; allowed are f64, f32, f16 and bf16 [F9]}}
pact.primitive @f function (%x: i32) -> f32 {
  %r = arith.sitofp %x : i32 to f32
  pact.yield %r : f32
}

// -----

// expected-error @+1 {{is a function, which has neither reduction nor product [F9]}}
pact.primitive @f function product "exact" (%x: f32) -> f32 {
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{is a step of dot and takes 3 arguments, not 2 [F9]}}
pact.primitive @f step dot product "exact" (%x: f32, %acc: f32) -> f32 {
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{takes an accumulator of type 'f64' and returns 'f32' [F9]}}
pact.primitive @f step sum (%x: f32, %acc: f64) -> f32 {
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{is a dot step and does not say whether its product is exact [F9]}}
pact.primitive @f step dot (%x: f32, %b: f32, %acc: f32) -> f32 {
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{has no product to round [F9]}}
pact.primitive @f step sum product "f32" (%x: f32, %acc: f32) -> f32 {
  pact.yield %x : f32
}

// -----

// expected-error @+1 {{has product "f8"; allowed are "exact", "f64", "f32", "f16" and "bf16" [F9]}}
pact.primitive @f step dot product "f8" (%x: f32, %b: f32, %acc: f32) -> f32 {
  pact.yield %x : f32
}

// -----

pact.primitive @f function (%x: f32) -> f32 {
  %r = arith.extf %x : f32 to f64
  // expected-error @+1 {{yields 'f64' where the primitive returns 'f32' [F9]}}
  pact.yield %r : f64
}

// -----

// expected-error @+1 {{is a fused step: its reduction is dot and its product exact [F10]}}
pact.atom @a sum product "exact" model "m" L 8 F 24 : (bf16, bf16, f32) -> f32

// -----

// expected-error @+1 {{a fused step takes two terms and the accumulator and returns the accumulator [F10]}}
pact.atom @a dot product "exact" model "m" L 8 F 24 : (bf16, f32) -> f32

// -----

// expected-error @+1 {{has L 0 and F 24; both lie in 1 ... 64 [F10]}}
pact.atom @a dot product "exact" model "m" L 0 F 24 : (bf16, bf16, f32) -> f32

// -----

// expected-error @+1 {{expected sum, dot or max, not exp_sum}}
pact.primitive @p step exp_sum (%a: f32, %b: f32) -> f32 {
}

// -----

// expected-error@+1 {{has a model that there is not: there is no atom 'dot.tpu'; there are: dot.nv(terms,fraction bits) and dot.cdna3 [A2]}}
pact.atom @a dot product "exact" model "dot.tpu" L 8 F 24 : (bf16, bf16, f32) -> f32

// -----

// expected-error@+1 {{has L 16 and F 24, and 'dot.cdna3' has L 8 and F 24 [F10]}}
pact.atom @a dot product "exact" model "dot.cdna3" L 16 F 24 : (bf16, bf16, f32) -> f32

// -----

// expected-error @+1 {{attribute 'sym_name' failed to satisfy constraint: string attribute that is not empty}}
pact.atom @"" dot product "exact" model "dot.nv" L 8 F 24 : (bf16, bf16, f32) -> f32

// -----

// expected-error @+1 {{attribute 'sym_name' failed to satisfy constraint: string attribute that is not empty}}
pact.primitive @"" function (%a: f32) -> f32 {
  pact.yield %a : f32
}
