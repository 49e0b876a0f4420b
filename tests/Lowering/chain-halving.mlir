// chain-halving.mlir - packs in a chain, halving in registers then lanes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: cat %contracts/ops/sum.mlir %contracts/primitives/add.f32.mlir %s \
// RUN:   | bitpact-opt --lower-rows | FileCheck %s

pact.contract "c" of @sum dims {tokens = ?, hidden = 256}
  types {x = bf16, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "sweep:* lane:32 pack:4"
    merge ["pack chain", "sweep chain", "lane halving"] start identity
    accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {"sum.step" = @"add.f32"}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 16, unroll = 64>}

// Lane l owns the blocks l, l + 8, l + 16 and l + 24 of the 32, of 4 elements
// each; two sweeps of 128 elements. Every accumulator takes pack by pack.
// The row starts at program · stride; a pack of 8 bytes is what rows must be
// aligned to.
// CHECK-LABEL: kernel.func @sum_0(
// CHECK-SAME: %[[X:arg[0-9]+]]: !kernel.buffer<bf16>, %[[S:arg[0-9]+]]: i64, %[[Y:arg[0-9]+]]: !kernel.buffer<f32>, %[[T:arg[0-9]+]]: i64, %[[H:arg[0-9]+]]: i64)
// CHECK-SAME: slots ["x", "x:0", "y", "tokens", "hidden"] rows "tokens"
// CHECK-SAME: attributes {access = {x = 8 : i64}}
// CHECK: %[[LANE:.*]] = kernel.lane : vector<8xi64>
// CHECK: %[[P:.*]] = kernel.program
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[ROW:.*]] = arith.muli %[[P]], %[[S]] : i64
// CHECK: %[[A:.*]]:4 = kernel.load %[[X]][%[[ROW]]] lane_stride 4 align 8 : <bf16>
// CHECK: %[[A0:.*]] = arith.extf %[[A]]#0
// CHECK: %[[CA0:.*]] = arith.addf %{{.*}}, %[[A0]] : vector<8xf32>
// CHECK: %[[C32:.*]] = arith.constant 32 : i64
// CHECK: %[[AT32:.*]] = arith.addi %[[ROW]], %[[C32]]
// CHECK: kernel.load %[[X]][%[[AT32]]] lane_stride 4 align 8
// CHECK: arith.constant 64 : i64
// CHECK: kernel.load
// CHECK: arith.constant 96 : i64
// CHECK: kernel.load
// The second sweep, into the same accumulators.
// CHECK: arith.constant 128 : i64
// CHECK: kernel.load
// CHECK-COUNT-3: kernel.load
// CHECK-NOT: kernel.load
// High bits first: (0, 2), (1, 3), then the two of them, then the lanes.
// CHECK: arith.extf %{{.*}}#3
// CHECK-NEXT: %[[ACC0:.*]] = arith.addf
// CHECK-NEXT: arith.extf %{{.*}}#3
// CHECK-NEXT: %[[ACC1:.*]] = arith.addf
// CHECK-NEXT: arith.extf %{{.*}}#3
// CHECK-NEXT: %[[ACC2:.*]] = arith.addf
// CHECK-NEXT: arith.extf %{{.*}}#3
// CHECK-NEXT: %[[ACC3:.*]] = arith.addf
// CHECK-NEXT: %[[R0:.*]] = arith.addf %[[ACC0]], %[[ACC2]] : vector<8xf32>
// CHECK-NEXT: %[[R1:.*]] = arith.addf %[[ACC1]], %[[ACC3]] : vector<8xf32>
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[R0]], %[[R1]] : vector<8xf32>
// CHECK-NEXT: %[[E4:.*]] = kernel.exchange %[[R]] distance 4
// CHECK-NEXT: %[[M4:.*]] = arith.addf %[[R]], %[[E4]]
// CHECK-NEXT: %[[E2:.*]] = kernel.exchange %[[M4]] distance 2
// CHECK-NEXT: %[[M2:.*]] = arith.addf %[[M4]], %[[E2]]
// CHECK-NEXT: %[[E1:.*]] = kernel.exchange %[[M2]] distance 1
// CHECK-NEXT: %[[M1:.*]] = arith.addf %[[M2]], %[[E1]]
// The store makes NaN canonical, and one lane writes.
// CHECK-NEXT: %[[N:.*]] = kernel.narrow %[[M1]] : vector<8xf32> to vector<8xf32>
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK-NEXT: kernel.store %[[N]] to %[[Y]][%[[P]]] mask(%[[FIRST]] : vector<8xi1>) lane_stride 0 align 4
// CHECK-NEXT: kernel.return
