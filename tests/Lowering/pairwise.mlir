// pairwise.mlir - pairwise merges neighbouring lanes first, then registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows | FileCheck %s

pact.contract "c" of @sum dims {tokens = ?, hidden = 24}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "k:*" merge ["k pairwise"]
    start first accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// 24 elements are three registers of 8 lanes: the low bits of the position
// are the lane. `first` seeds with what an element enters unchanged.
// CHECK-LABEL: kernel.func @sum_0
// CHECK-NOT: dense<0.000000e+00>
// CHECK: arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK-COUNT-3: kernel.load %{{.*}} lane_stride 1 align 4
// CHECK-NEXT: %[[P:.*]] = arith.addf
// CHECK-NEXT: kernel.exchange %{{.*}} distance 1
// CHECK-NEXT: arith.addf
// CHECK-NEXT: kernel.exchange %{{.*}} distance 2
// CHECK-NEXT: arith.addf
// CHECK-NEXT: kernel.exchange %{{.*}} distance 4
// CHECK-NEXT: %[[A:.*]] = arith.addf
// CHECK-NEXT: kernel.exchange %{{.*}} distance 1
// CHECK: kernel.exchange %{{.*}} distance 4
// CHECK-NEXT: %[[B:.*]] = arith.addf
// CHECK-NEXT: kernel.exchange %[[P]] distance 1
// CHECK: kernel.exchange %{{.*}} distance 4
// CHECK-NEXT: %[[C:.*]] = arith.addf
// (A + B) + C
// CHECK-NEXT: %[[AB:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: arith.addf %[[AB]], %[[C]]
// CHECK-NEXT: kernel.narrow
