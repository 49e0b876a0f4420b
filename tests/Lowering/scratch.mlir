// scratch.mlir - trees over more parts than registers hold
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows | FileCheck %s

pact.contract "halving" of @sum dims {tokens = ?, hidden = 128}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:32 k:4"
    merge ["k chain", "lane halving"] start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 16>}

// All 32 parts are kept; cell i takes cell i + 16, then i + 8 and so on.
// CHECK-LABEL: kernel.func @sum_0
// CHECK: %[[CELLS:.*]] = kernel.scratch : <32 x vector<8xf32>>
// A row a lane; lanes beyond the last row are masked.
// CHECK: %[[ROWS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : vector<8xi64>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK: kernel.load %{{.*}}[%{{.*}}, %{{.*}} : vector<8xi64>] mask(%[[ROWS]] : vector<8xi1>) lane_stride 0
// CHECK: kernel.poke %{{.*}}, %[[CELLS]][%[[I]]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %c16
// CHECK: %[[UPPER:.*]] = arith.addi %[[J]], %{{.*}}
// CHECK: %[[L:.*]] = kernel.peek %[[CELLS]][%[[J]]]
// CHECK: %[[R:.*]] = kernel.peek %[[CELLS]][%[[UPPER]]]
// CHECK: %[[M:.*]] = arith.addf %[[L]], %[[R]]
// CHECK: kernel.poke %[[M]], %[[CELLS]][%[[J]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %c8
// CHECK: scf.for %{{.*}} = %{{.*}} to %c4
// CHECK: scf.for %{{.*}} = %{{.*}} to %c2
// CHECK: scf.for %{{.*}} = %{{.*}} to %c1
// CHECK-NOT: scf.for
// CHECK: kernel.store %{{.*}} mask(%[[ROWS]] : vector<8xi1>) lane_stride 1 align 4

pact.contract "pairwise" of @sum dims {tokens = ?, hidden = ?}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "k:*"
    merge ["k pairwise"] start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 16>}

// A binary counter: part i carries into the cells of the bits that i has set.
// CHECK-LABEL: kernel.func @sum_1
// CHECK: %[[CELLS:.*]] = kernel.scratch : <63 x vector<8xf32>>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK: scf.while (%[[BIT:.*]] = %{{.*}}, %[[PART:.*]] = %{{.*}})
// CHECK-NEXT: arith.shrui %[[I]], %[[BIT]]
// CHECK: scf.condition
// CHECK: %[[LEFT:.*]] = kernel.peek %[[CELLS]]
// CHECK: arith.addf %[[LEFT]], %{{.*}}
// CHECK: kernel.poke %{{.*}}, %[[CELLS]]
// What is left, from the lowest bit up.
// CHECK: scf.for %[[B:.*]] = %{{.*}} iter_args(%[[RIGHT:.*]] = %{{.*}})
// CHECK: scf.if
// CHECK: %[[REST:.*]] = kernel.peek %[[CELLS]][%[[B]]]
// CHECK: arith.addf %[[REST]], %[[RIGHT]]
