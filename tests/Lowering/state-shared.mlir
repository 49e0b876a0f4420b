// state-shared.mlir - accumulators of all lanes share one running maximum
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/log_sum_exp.mlir %contracts/primitives/max.f32.mlir \
// RUN:   %contracts/primitives/add.f32.mlir %contracts/primitives/log.f32.mlir \
// RUN:   %contracts/primitives/exp_diff.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s

pact.contract "c" of @log_sum_exp dims {tokens = ?, vocab = 64}
  types {x = f32, y = f32} params {}
  nodes {
    max = #pact.node<domain "vocab" partition "all:*" merge ["all any"]
      start identity accumulator f32>,
    sum = #pact.node<domain "vocab" partition "sweep:* lane:8"
      merge ["sweep carry", "lane halving"]
      start identity state online accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {"max.step" = @"max.f32", "sum.step" = @"add.f32",
    "sum.weight" = @"exp_diff.f32", "sum.rescale" = @"exp_diff.f32",
    "log" = @"log.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 4,
    programs_per_group = 1, vector_bytes = 0, unroll = 2>}

// Every step exchanges the maximum among all lanes, within subgroups and then
// between them, before it weighs an element.
// CHECK-LABEL: kernel.func @log_sum_exp_0
// CHECK: scf.for
// CHECK: kernel.load
// CHECK: kernel.exchange %{{.*}} distance 2
// CHECK: kernel.exchange %{{.*}} distance 1
// CHECK: kernel.gather %{{.*}} subgroup 4
// CHECK: arith.maximumf
// CHECK: arith.subf
// CHECK: scf.yield
// The sums meet once, after the last step.
// CHECK: kernel.gather
// CHECK: arith.addf
// CHECK: kernel.exchange %{{.*}} distance 2
// CHECK: kernel.exchange %{{.*}} distance 1
// CHECK: kernel.store
