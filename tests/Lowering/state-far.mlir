// state-far.mlir - states of a CTA: each lane merges one pair, near or far
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/log_sum_exp.mlir %contracts/primitives/max.f32.mlir \
// RUN:   %contracts/primitives/add.f32.mlir %contracts/primitives/log.f32.mlir \
// RUN:   %contracts/primitives/combine.fma.f32.mlir \
// RUN:   %contracts/primitives/exp_diff.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s

pact.contract "halving" of @log_sum_exp dims {tokens = ?, vocab = 16}
  types {x = f32, y = f32} params {}
  nodes {
    max = #pact.node<domain "vocab" partition "all:*" merge ["all any"]
      start identity accumulator f32>,
    sum = #pact.node<domain "vocab" partition "lane:16"
      merge ["lane halving merge"] start identity state online accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {"max.step" = @"max.f32", "sum.step" = @"add.f32",
    "sum.weight" = @"exp_diff.f32", "sum.rescale" = @"exp_diff.f32",
    "sum.combine" = @"combine.fma.f32", "log" = @"log.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 16, subgroup = 4,
    programs_per_group = 1, vector_bytes = 0, unroll = 2>}

// The left operand of the fma is the state of the lane whose bit is not set.
// CHECK-LABEL: kernel.func @log_sum_exp_0
// CHECK: kernel.exchange %{{.*}} distance 8 far
// CHECK-NEXT: kernel.exchange %{{.*}} distance 8 far
// CHECK: arith.select
// CHECK: kernel.exchange %{{.*}} distance 4 far
// CHECK: kernel.exchange %{{.*}} distance 2 : vector<16xf32>
// CHECK: kernel.exchange %{{.*}} distance 1 : vector<16xf32>
// CHECK-NOT: kernel.gather

pact.contract "pairwise" of @log_sum_exp dims {tokens = ?, vocab = 16}
  types {x = f32, y = f32} params {}
  nodes {
    max = #pact.node<domain "vocab" partition "all:*" merge ["all any"]
      start identity accumulator f32>,
    sum = #pact.node<domain "vocab" partition "lane:16"
      merge ["lane pairwise merge"] start identity state online
      accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {"max.step" = @"max.f32", "sum.step" = @"add.f32",
    "sum.weight" = @"exp_diff.f32", "sum.rescale" = @"exp_diff.f32",
    "sum.combine" = @"combine.fma.f32", "log" = @"log.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 16, subgroup = 4,
    programs_per_group = 1, vector_bytes = 0, unroll = 2>}

// CHECK-LABEL: kernel.func @log_sum_exp_1
// CHECK: kernel.exchange %{{.*}} distance 1 : vector<16xf32>
// CHECK: kernel.exchange %{{.*}} distance 2 : vector<16xf32>
// CHECK: kernel.exchange %{{.*}} distance 4 far
// CHECK: kernel.exchange %{{.*}} distance 8 far
// CHECK-NOT: kernel.gather
