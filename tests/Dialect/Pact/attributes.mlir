// attributes.mlir - attributes and types, printed as they were written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s | bitpact-opt | FileCheck %s
// RUN: bitpact-opt %s --mlir-print-op-generic | bitpact-opt | FileCheck %s

// CHECK: test.merge = #pact.merge<["c fused(dot.nv(16,25))", "b chain", "a fold from bf16 in f32"]>
// CHECK-SAME: test.node = #pact.node<domain "k" partition "o:@offsets k:*" merge ["k chain", "o fold"] start first accumulator f64 offsets "at">
// CHECK-SAME: test.padded = #pact.node<domain "k" extent 10 stored 12 partition "s:* c:2" merge ["c chain", "s carry"] start identity state online accumulator f32>
// CHECK-SAME: test.partition = #pact.partition<"rank:8@18992 tile:* col:128">
// CHECK-SAME: test.state = #pact.merge<["c halving", "s carry", "t pairwise in bf16", "a fold merge from bf16"]>
// CHECK-SAME: test.type = !pact.real<["a", "b c"]>
module attributes {
  test.merge = #pact.merge<["c fused(dot.nv(16,25))", "b chain", "a fold from bf16 in f32"]>,
  test.node = #pact.node<domain "k" partition "o:@offsets k:*" merge ["k chain", "o fold"] start first accumulator f64 offsets "at">,
  test.padded = #pact.node<domain "k" extent 10 stored 12 partition "s:* c:2" merge ["c chain", "s carry"] start identity state online accumulator f32>,
  test.partition = #pact.partition<"rank:8@18992   tile:*  col:128">,
  test.state = #pact.merge<["c halving", "s carry", "t pairwise in bf16", "a fold  merge  from bf16"]>,
  test.type = !pact.real<["a", "b c"]>
} {}
