// definitions.mlir - primitives and atoms, printed as they were written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s | bitpact-opt | FileCheck %s
// RUN: bitpact-opt %s --mlir-print-op-generic | bitpact-opt | FileCheck %s

// CHECK-LABEL: pact.primitive @rsqrt.div_sqrt.f32 function (%arg0: f32) -> f32 {
pact.primitive @"rsqrt.div_sqrt.f32" function (%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  // CHECK: %[[S:.*]] = pact.sqrt %arg0 : f32
  %s = pact.sqrt %x : f32
  %r = arith.divf %one, %s : f32
  // CHECK: pact.yield %{{.*}} : f32
  pact.yield %r : f32
}

// CHECK-LABEL: pact.primitive @dot.fma.f64 step dot product "exact" (%arg0: f64, %arg1: f64, %arg2: f64) -> f64 {
pact.primitive @"dot.fma.f64" step dot product "exact"
    (%a: f64, %b: f64, %acc: f64) -> f64 {
  // CHECK: pact.fma %arg0, %arg1, %arg2 : f64
  %r = pact.fma %a, %b, %acc : f64
  pact.yield %r : f64
}

// CHECK-LABEL: pact.primitive @add.f32 step sum (%arg0: f32, %arg1: f32) -> f32 {
pact.primitive @"add.f32" step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}

// CHECK: pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25 : (bf16, bf16, f32) -> f32
pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25
  : (bf16, bf16, f32) -> f32
