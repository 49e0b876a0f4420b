// columns.mlir - neighbouring columns a lane, shared by programs, merged
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/column_sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows | FileCheck %s

pact.contract "c" of @column_sum dims {tokens = ?, hidden = ?}
  types {x = bf16, y = f32} params {}
  nodes {sum = #pact.node<domain "tokens" partition "microbatch:*@256 token:256"
    merge ["token chain", "microbatch fold"] start identity
    accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 32, subgroup = 32,
    programs_per_group = 1, vector_bytes = 16, unroll = 32 rows_per_lane = 8
    split = 256>}

// A program has 256 columns and the microbatch of its part.
// CHECK-LABEL: kernel.func @column_sum_0(
// CHECK-SAME: slots ["x", "x:0", "y", "tokens", "hidden", "workspace"] rows "hidden"
// CHECK-SAME: split = #kernel.split<"tokens", length = 256, less = 0>
// CHECK: %[[PART:.*]] = kernel.part
// CHECK: kernel.program
// Where hidden is whole packs of 8, nothing is masked but the store: 4 tokens
// at once, then the rest one by one.
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-4: kernel.load {{.*}} lane_stride 0 align 16 : <bf16>
// CHECK-NOT: kernel.load
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: kernel.load {{.*}} lane_stride 0 align 16 : <bf16>
// CHECK: scf.yield
// CHECK: kernel.store {{.*}} mask({{.*}} : vector<32xi1>) lane_stride 0 align 16 : <f32>
// Else each column has a mask.
// CHECK: } else {
// CHECK: kernel.load {{.*}} mask({{.*}} : vector<32xi1>, {{.*}}) lane_stride 8 align 2 : <bf16>
// CHECK: kernel.return

// The parts are added in order, 16 of them read at once.
// CHECK-LABEL: kernel.func @column_sum_0_merge(
// CHECK-SAME: schedule <"row_per_lane", lanes = 32
// CHECK-NOT: kernel.part
// CHECK: scf.for
// CHECK-COUNT-16: kernel.load
// CHECK-NOT: kernel.load
// CHECK-COUNT-16: arith.addf
// CHECK: scf.yield
// CHECK: kernel.store {{.*}} : <f32>
