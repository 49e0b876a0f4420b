// ragged.mlir - masks where a row ends inside a block
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s

pact.contract "whole packs" of @sum dims {tokens = ?, hidden = 30}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "sweep:* lane:8 pack:2"
    merge ["pack chain", "sweep chain", "lane halving"] start identity
    accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 16, unroll = 64>}

// The first sweep is whole. In the second, lane 7 has no pack: one mask.
// CHECK-LABEL: kernel.func @sum_0
// CHECK: kernel.load %{{.*}}[%{{[0-9]+}}] lane_stride 2 align 8
// CHECK: %[[LIMIT:.*]] = arith.constant 30 : i64
// CHECK: %[[ALL:.*]] = vector.broadcast %[[LIMIT]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[ALL]] : vector<8xi64>
// CHECK: %[[V:.*]]:2 = kernel.load %{{.*}}[%{{[0-9]+}}] mask(%[[IN]] : vector<8xi1>) lane_stride 2 align 8
// What a masked lane received is not taken.
// CHECK: %[[T0:.*]] = arith.addf %[[ACC:.*]], %[[V]]#0
// CHECK: arith.select %[[IN]], %[[T0]], %[[ACC]]
// CHECK: kernel.exchange

pact.contract "broken packs" of @sum dims {tokens = ?, hidden = 29}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "sweep:* lane:8 pack:2"
    merge ["pack chain", "sweep chain", "lane halving"] start identity
    accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 16, unroll = 64>}

// Element 28 is there and 29 is not: each element of a pack has its mask.
// CHECK-LABEL: kernel.func @sum_1
// CHECK: kernel.load %{{.*}}[%{{[0-9]+}}] lane_stride 2 align 8
// CHECK: %[[IN0:.*]] = arith.cmpi slt
// CHECK: %[[IN1:.*]] = arith.cmpi slt
// CHECK: kernel.load %{{.*}}[%{{[0-9]+}}] mask(%[[IN0]], %[[IN1]] : vector<8xi1>, vector<8xi1>) lane_stride 2 align 8
// CHECK: arith.select %[[IN0]]
// CHECK: arith.select %[[IN1]]
