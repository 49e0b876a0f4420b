// pairwise-ragged.mlir - lanes beyond a digit that they do not divide read nothing
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s

pact.contract "c" of @sum dims {tokens = ?, hidden = 12}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "k:12" merge ["k pairwise"]
    start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// The digit covers the row exactly, but its second round of lanes does not:
// lanes 4 to 7 would read elements 12 to 15 of a row of 12.
// CHECK-LABEL: kernel.func @sum_0
// CHECK: %[[LANE:.*]] = kernel.lane
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i64
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[LANE]] : vector<8xi64>
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[AT]], %{{.*}} : vector<8xi64>
// An accumulator of an absent element is -0, one of a present element +0.
// CHECK: %[[START:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: kernel.load %{{.*}}[%{{[0-9]+}}] lane_stride 1
// CHECK: %[[V:.*]] = kernel.load %{{.*}}[%{{[0-9]+}}] mask(%[[IN]] : vector<8xi1>) lane_stride 1
// CHECK: %[[TAKEN:.*]] = arith.addf %[[START]], %[[V]]
// CHECK: arith.select %[[IN]], %[[TAKEN]], %[[START]]
// CHECK: kernel.exchange
