// state-carry.mlir - a maximum that runs, one accumulator a lane, lanes merged
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/log_sum_exp.mlir %contracts/primitives/max.f32.mlir \
// RUN:   %contracts/primitives/add.f32.mlir %contracts/primitives/log.f32.mlir \
// RUN:   %contracts/primitives/combine.mul_add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s

// The difference stands for the weight, so that the tree can be read.
pact.primitive @weight function (%x: f32, %m: f32) -> f32 {
  %d = arith.subf %x, %m : f32
  pact.yield %d : f32
}
pact.primitive @rescale function (%x: f32, %m: f32) -> f32 {
  %d = arith.divf %x, %m : f32
  pact.yield %d : f32
}

pact.contract "c" of @log_sum_exp dims {tokens = ?, vocab = 70}
  types {x = f32, y = f32} params {}
  nodes {
    max = #pact.node<domain "vocab" partition "all:*" merge ["all any"]
      start identity accumulator f32>,
    sum = #pact.node<domain "vocab" partition "sweep:* lane:8 pack:2"
      merge ["pack chain", "sweep carry", "lane halving merge"]
      start identity state online accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {"max.step" = @"max.f32", "sum.step" = @"add.f32",
    "sum.weight" = @weight, "sum.rescale" = @rescale,
    "sum.combine" = @"combine.mul_add.f32", "log" = @"log.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 8, unroll = 2 ahead = 1>}

// Four whole sweeps of 16 elements. The first has been read before the loop,
// and each step reads the next one's elements before it computes.
// CHECK-LABEL: kernel.func @log_sum_exp_0
// CHECK: %[[FIRST:.*]]:2 = kernel.load %{{[^ ]*}}[%{{[^ ]*}}] lane_stride 2
// CHECK: %[[LOOP:.*]]:4 = scf.for %[[I:.*]] = %{{.*}} to %c4_i64 {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[X0:.*]] = %[[FIRST]]#0, %[[X1:.*]] = %[[FIRST]]#1)
// CHECK: %[[NEXT:.*]]:2 = kernel.load {{.*}} mask(
// CHECK-NOT: arith.select
// CHECK: %[[PART:.*]] = arith.maximumf %[[X0]], %[[X1]]
// CHECK-NEXT: %[[NEWM:.*]] = arith.maximumf %[[M]], %[[PART]]
// CHECK-NEXT: %[[R:.*]] = arith.divf %[[M]], %[[NEWM]]
// CHECK: %[[LR:.*]] = arith.mulf %[[L]], %[[R]]
// CHECK: %[[BASE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LR]]
// CHECK: %[[W0:.*]] = arith.subf %[[X0]], %[[NEWM]]
// CHECK: %[[L0:.*]] = arith.addf %[[BASE]], %[[W0]]
// CHECK: %[[W1:.*]] = arith.subf %[[X1]], %[[NEWM]]
// CHECK: %[[L1:.*]] = arith.addf %[[L0]], %[[W1]]
// CHECK: scf.yield %[[NEWM]], %[[L1]], %[[NEXT]]#0, %[[NEXT]]#1

// A short sweep, masked. No element is read again for the maximum.
// CHECK: arith.select {{.*}} %[[LOOP]]#2
// CHECK-NOT: kernel.load

// States of lanes, the widest distance first; the lower position is the left.
// CHECK: kernel.exchange %{{.*}} distance 4
// CHECK-NEXT: kernel.exchange %{{.*}} distance 4
// CHECK: kernel.exchange %{{.*}} distance 2
// CHECK: kernel.exchange %{{.*}} distance 1
// CHECK-NOT: kernel.load
// CHECK: kernel.store
