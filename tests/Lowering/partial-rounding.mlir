// partial-rounding.mlir - parts rounded on entering, merges rounded to another format
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s

pact.contract "c" of @sum dims {tokens = ?, hidden = 16}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "block:2 lane:8"
    merge ["lane halving", "block fold from bf16 in f16"] start identity
    accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// CHECK-LABEL: kernel.func @sum_0
// CHECK-COUNT-6: kernel.exchange
// CHECK-NEXT: %[[B:.*]] = arith.addf
// CHECK-NEXT: %[[A16:.*]] = kernel.narrow %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK-NEXT: %[[A:.*]] = arith.extf %[[A16]]
// CHECK-NEXT: %[[B16:.*]] = kernel.narrow %[[B]] : vector<8xf32> to vector<8xbf16>
// CHECK-NEXT: %[[BW:.*]] = arith.extf %[[B16]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[BW]] : vector<8xf32>
// CHECK-NEXT: %[[S16:.*]] = kernel.narrow %[[S]] : vector<8xf32> to vector<8xf16>
// CHECK-NEXT: %[[SW:.*]] = arith.extf %[[S16]]
// CHECK-NEXT: kernel.narrow %[[SW]] : vector<8xf32> to vector<8xf32>

pact.contract "short" of @sum dims {tokens = ?, hidden = 12}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:16"
    merge ["lane halving in bf16"] start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// Where the right part is empty nothing is merged, so nothing is rounded.
// CHECK-LABEL: kernel.func @sum_1
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: kernel.load {{.*}} mask(%[[IN]] : vector<8xi1>)
// CHECK: arith.select %[[IN]]
// CHECK-NEXT: %[[M:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NEXT: %[[M16:.*]] = kernel.narrow %[[M]] : vector<8xf32> to vector<8xbf16>
// CHECK-NEXT: %[[MW:.*]] = arith.extf %[[M16]]
// CHECK-NEXT: arith.select %[[IN]], %[[MW]], %[[M]]
// CHECK: kernel.exchange %{{.*}} distance 4
