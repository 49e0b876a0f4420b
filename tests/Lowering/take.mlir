// take.mlir - an element at a position that a tensor gives
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/primitives/max.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows --cse | FileCheck %s
!all = !pact.real<["tokens", "vocab"]>
!row = !pact.real<["tokens"]>
!number = !pact.real<[]>

pact.operator @f version 1 dims ["tokens", "vocab"] {
  %x = pact.input "x" : !all
  %i = pact.index "i" : !row
  %two = pact.param "two" : !number
  %one = pact.param "one" : !number
  %three = pact.param "three" : !number
  %a = pact.div %x, %two site "a" : (!all, !number) -> !all
  %b = pact.div %a, %one site "b" : (!all, !number) -> !all
  %c = pact.div %b, %three site "c" : (!all, !number) -> !all
  %m = pact.reduce "max" max over "vocab" (%x) : (!all) -> !row
  %t = pact.take %c over "vocab" at %i : (!all, !row) -> !row
  %y = pact.sub %t, %m : (!row, !row) -> !row
  pact.output "y" %y : !row
}

// Of 80 columns that are stored 70 exist.
pact.contract "c" of @f dims {tokens = ?, vocab = 80}
  types {x = f32, i = i32, y = f32}
  params {two = 2.0 : f32, one = 1.0 : f32, three = 3.0 : f32}
  nodes {max = #pact.node<domain "vocab" extent 70 stored 80
    partition "sweep:* lane:8" merge ["sweep chain", "lane halving"]
    start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>, a = #pact.rounding<f32 rne>,
    b = #pact.rounding<f32 rne>, c = #pact.rounding<f32 rne>}
  primitives {"max.step" = @"max.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 16>}

// CHECK-LABEL: kernel.func @f_0
// CHECK-SAME: %[[WORD:[^:]*]]: !kernel.buffer<i32>) slots ["x", "x:0", "i", "y", "tokens", "vocab", "@fault"]
// CHECK: %[[END:.*]] = vector.broadcast %c70_i64
// CHECK: %[[RAW:.*]] = kernel.load {{.*}} : <i32>, vector<8xi32>
// CHECK: %[[AT:.*]] = arith.extsi %[[RAW]]
// CHECK-NEXT: %[[IN:.*]] = arith.cmpi ult, %[[AT]], %[[END]]
// CHECK-NEXT: %[[OUT:.*]] = arith.cmpi uge, %[[AT]], %[[END]]
// CHECK: kernel.fault %[[WORD]] mask(%[[OUT]] : vector<8xi1>)
// CHECK: %[[X:.*]] = kernel.load %{{[^ ]*}}[%{{[^ ]*}}, %[[AT]] : vector<8xi64>] mask(%[[IN]] : vector<8xi1>)
// By 2 it is a product, by 1 nothing, by 3 a division.
// CHECK-NEXT: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[X]], %[[HALF]]
// CHECK-NEXT: %[[C:.*]] = arith.divf %[[A]], %{{.*}}
// CHECK: %[[NAN:.*]] = arith.constant dense<0x7FC00000>
// CHECK: arith.select %[[IN]], %[[C]], %[[NAN]]
