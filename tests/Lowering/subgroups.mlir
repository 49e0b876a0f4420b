// subgroups.mlir - a row over several subgroups: registers, storage, lanes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows | FileCheck %s

pact.contract "halving" of @sum dims {tokens = ?, hidden = 256}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:256"
    merge ["lane halving"] start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 128,
    subgroup = 32, programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// 256 = 2 registers of 4 subgroups of 32 lanes, high bits first.
// CHECK-LABEL: kernel.func @sum_0
// CHECK-COUNT-2: kernel.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[R:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<128xf32>
// CHECK-NEXT: %[[G:.*]]:4 = kernel.gather %[[R]] subgroup 32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[G]]#0, %[[G]]#2
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[G]]#1, %[[G]]#3
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: kernel.exchange %[[S]] distance 16
// CHECK: kernel.exchange %{{.*}} distance 1 :
// CHECK-NEXT: arith.addf
// CHECK-NEXT: kernel.narrow

pact.contract "pairwise" of @sum dims {tokens = ?, hidden = 256}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:256"
    merge ["lane pairwise"] start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 128,
    subgroup = 32, programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// Low bits first: lanes, subgroups, registers.
// CHECK-LABEL: kernel.func @sum_1
// CHECK: kernel.exchange %{{.*}} distance 1 :
// CHECK: kernel.exchange %{{.*}} distance 16
// CHECK-NEXT: %[[P:.*]] = arith.addf
// CHECK-NEXT: %[[G:.*]]:4 = kernel.gather %[[P]] subgroup 32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[G]]#0, %[[G]]#1
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[G]]#2, %[[G]]#3
// CHECK-NEXT: %[[X:.*]] = arith.addf %[[A]], %[[B]]
// The second register in the same way, then both.
// CHECK: %[[H:.*]]:4 = kernel.gather
// CHECK: %[[Y:.*]] = arith.addf
// CHECK: arith.addf %[[X]], %{{.*}}
// CHECK-NEXT: kernel.narrow
