// fold-loop.mlir - complete partials of an open number of blocks
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows | FileCheck %s

pact.contract "c" of @sum dims {tokens = ?, hidden = ?}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "block:* lane:8 k:2"
    merge ["k chain", "lane halving", "block fold"] start identity
    accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// CHECK-LABEL: kernel.func @sum_0(
// CHECK-SAME: %[[H:arg[0-9]+]]: i64) slots ["x", "x:0", "y", "tokens", "hidden"]
// Blocks of 16 elements: (hidden + 15) / 16 of them, the first merged into -0.
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00>
// CHECK: %[[C15:.*]] = arith.constant 15 : i64
// CHECK: %[[UP:.*]] = arith.addi %[[H]], %[[C15]]
// CHECK: %[[C16:.*]] = arith.constant 16 : i64
// CHECK: %[[COUNT:.*]] = arith.divui %[[UP]], %[[C16]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[SUM:.*]] = %[[NONE]])
// The last block may be short, which only the running kernel knows.
// CHECK: arith.cmpi slt
// CHECK: kernel.load {{.*}} mask(
// CHECK-COUNT-3: kernel.exchange
// CHECK-NEXT: %[[PART:.*]] = arith.addf
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[PART]]
// CHECK-NEXT: scf.yield %[[NEXT]]
