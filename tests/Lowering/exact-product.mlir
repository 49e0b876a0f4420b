// exact-product.mlir - a site bound exact is one fma with its consumer
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/primitives/add.f32.mlir %s | bitpact-opt --lower-rows \
// RUN:   | FileCheck %s

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @scaled version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %w = pact.input "w" : !all
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  %p = pact.mul %x, %s site "product" : (!all, !row) -> !all
  %d = pact.sub %w, %p : (!all, !all) -> !all
  pact.output "y" %d : !all
}

pact.contract "exact" of @scaled dims {tokens = ?, hidden = 8}
  types {w = f32, x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:8"
    merge ["lane halving"] start identity accumulator f32>}
  rounding {product = #pact.rounding<exact>, y = #pact.rounding<f32 rne>}
  primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// w - x·s is fma(-x, s, w); the product has no value of its own.
// CHECK-LABEL: kernel.func @scaled_0
// CHECK-NOT: arith.mulf
// CHECK: %[[X:.*]] = kernel.load %arg0
// CHECK: %[[S:.*]] = arith.addf
// CHECK: %[[W:.*]] = kernel.load %arg2
// CHECK: %[[N:.*]] = arith.negf %[[X]]
// CHECK: %[[F:.*]] = kernel.fma %[[N]], %{{.*}}, %[[W]] : vector<8xf32>
// CHECK-NOT: arith.subf
// CHECK: %[[K:.*]] = kernel.narrow %[[F]] : vector<8xf32> to vector<8xf32>
// CHECK: kernel.store %[[K]]

pact.contract "rounded" of @scaled dims {tokens = ?, hidden = 8}
  types {w = f32, x = f32, y = bf16} params {}
  nodes {sum = #pact.node<domain "hidden" partition "lane:8"
    merge ["lane halving"] start identity accumulator f32>}
  rounding {product = #pact.rounding<f16 rne>, y = #pact.rounding<bf16 rne>}
  primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// Rounded at its site, then subtracted in f32.
// CHECK-LABEL: kernel.func @scaled_1
// CHECK-NOT: kernel.fma
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[R:.*]] = kernel.narrow %[[P]] : vector<8xf32> to vector<8xf16>
// CHECK: %[[V:.*]] = arith.extf %[[R]] : vector<8xf16> to vector<8xf32>
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[V]]
// CHECK: %[[Y:.*]] = kernel.narrow %[[D]] : vector<8xf32> to vector<8xbf16>
// CHECK: kernel.store %[[Y]]
