// distribute.mlir - one thread a lane: lane values become scalars
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --kernel-distribute --verify-diagnostics --split-input-file | FileCheck %s

// CHECK-LABEL: kernel.func @f
// CHECK-NOT: vector<
kernel.func @f(%x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>, %n: i64)
    slots ["x", "y", "n"] rows ""
    schedule <"row_per_group", lanes = 32, subgroup = 32,
              programs_per_group = 4, vector_bytes = 0, unroll = 16> {
  // CHECK: %[[L:.*]] = kernel.lane : i64
  %l = kernel.lane : vector<32xi64>
  // CHECK: %[[Z:.*]] = arith.constant -0.000000e+00 : f32
  %z = arith.constant dense<-0.0> : vector<32xf32>
  // A broadcast is the value itself.
  // CHECK: %[[M:.*]] = arith.cmpi slt, %[[L]], %[[N:.*]] : i64
  %all = vector.broadcast %n : i64 to vector<32xi64>
  %m = arith.cmpi slt, %l, %all : vector<32xi64>
  // CHECK: kernel.scratch : <4 x f32>
  %c = kernel.scratch : <4 x vector<32xf32>>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // CHECK: %[[S:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %[[Z]]) -> (f32)
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (vector<32xf32>) : i64 {
    // CHECK: %[[V:.*]] = kernel.load %{{.*}}[%{{.*}}] mask(%[[M]] : i1) lane_stride 1 align 4 : <f32>, f32
    %v = kernel.load %x[%i] mask(%m : vector<32xi1>) lane_stride 1 align 4
        : !kernel.buffer<f32>, vector<32xf32>
    // CHECK: kernel.fma %[[V]], %[[V]], %[[A]] : f32
    %b = kernel.fma %v, %v, %a : vector<32xf32>
    scf.yield %b : vector<32xf32>
  }
  // CHECK: kernel.exchange %[[S]] distance 16 : f32
  %e = kernel.exchange %s distance 16 : vector<32xf32>
  // CHECK: kernel.store %{{.*}} mask(%[[M]] : i1)
  kernel.store %e to %y[%c0] mask(%m : vector<32xi1>) lane_stride 0 align 4
      : !kernel.buffer<f32>, vector<32xf32>
  kernel.return
}

// -----

kernel.func @g() slots [] rows ""
    schedule <"row_per_lane", lanes = 2, subgroup = 2,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // expected-error @+1 {{'arith.constant' op differs between lanes}}
  %l = arith.constant dense<[0, 1]> : vector<2xi64>
  kernel.return
}

// -----

kernel.func @h() slots [] rows ""
    schedule <"row_per_lane", lanes = 2, subgroup = 2,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  %l = kernel.lane : vector<2xi64>
  // expected-error @+1 {{'vector.reduction' op has no meaning for one lane}}
  %r = vector.reduction <add>, %l : vector<2xi64> into i64
  kernel.return
}
