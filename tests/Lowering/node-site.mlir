// node-site.mlir - the value of a reduction is rounded at its site
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/primitives/add.f32.mlir %s | bitpact-opt --lower-rows \
// RUN:   | FileCheck %s

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @less version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "sum" sum over "hidden" (%x) site "total" : (!all) -> !row
  %d = pact.sub %x, %s : (!all, !row) -> !all
  pact.output "y" %d : !all
}

pact.contract "rounded" of @less dims {tokens = ?, hidden = 8}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:8"
    merge ["lane halving"] start identity accumulator f32>}
  rounding {total = #pact.rounding<bf16 rne>, y = #pact.rounding<f32 rne>}
  primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// CHECK-LABEL: kernel.func @less_0
// CHECK-COUNT-4: arith.addf
// CHECK-NEXT: %[[R:.*]] = kernel.narrow %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[R]]
// CHECK: arith.subf %{{.*}}, %[[W]] : vector<8xf32>

pact.contract "whole" of @less dims {tokens = ?, hidden = 8}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:8"
    merge ["lane halving"] start identity accumulator f32>}
  rounding {total = #pact.rounding<f32 rne>, y = #pact.rounding<f32 rne>}
  primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// CHECK-LABEL: kernel.func @less_1
// CHECK-NOT: bf16
// CHECK: arith.subf
