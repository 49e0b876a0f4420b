// ops.mlir - every operation of the kernel dialect, printed as it was written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s | bitpact-opt | FileCheck %s
// RUN: bitpact-opt %s --mlir-print-op-generic | bitpact-opt | FileCheck %s

// CHECK-LABEL: kernel.func @lanes(
// CHECK-SAME: %[[X:.*]]: !kernel.buffer<bf16>, %[[S:.*]]: i64, %[[Y:.*]]: !kernel.buffer<f32>, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: slots ["x", "x:0", "y", "tokens", "hidden"] rows "tokens"
// CHECK-SAME: schedule <"row_per_group", lanes = 32, subgroup = 32, programs_per_group = 4, vector_bytes = 16, unroll = 128>
// CHECK-SAME: attributes {access = {x = 16 : i64}, contract = "abc"}
kernel.func @lanes(%x: !kernel.buffer<bf16>, %s: i64, %y: !kernel.buffer<f32>,
                   %tokens: i64, %hidden: i64)
    slots ["x", "x:0", "y", "tokens", "hidden"] rows "tokens"
    schedule <"row_per_group", lanes = 32, subgroup = 32,
              programs_per_group = 4, vector_bytes = 16, unroll = 128>
    attributes {contract = "abc", access = {x = 16 : i64}} {
  // CHECK: %[[P:.*]] = kernel.program
  %p = kernel.program
  // CHECK: %[[L:.*]] = kernel.lane : vector<32xi64>
  %l = kernel.lane : vector<32xi64>
  %m = arith.constant dense<true> : vector<32xi1>
  // CHECK: %[[V:.*]]:2 = kernel.load %[[X]][%[[P]]] lane_stride 2 align 4 : <bf16>, vector<32xbf16>, vector<32xbf16>
  %v:2 = kernel.load %x[%p] lane_stride 2 align 4
      : !kernel.buffer<bf16>, vector<32xbf16>, vector<32xbf16>
  // CHECK: kernel.load %[[X]][%[[P]], %[[L]] : vector<32xi64>] mask(%[[M:.*]] : vector<32xi1>) lane_stride 0 align 2 : <bf16>, vector<32xbf16>
  %w = kernel.load %x[%p, %l : vector<32xi64>] mask(%m : vector<32xi1>)
      lane_stride 0 align 2 : !kernel.buffer<bf16>, vector<32xbf16>
  // CHECK: kernel.load %[[X]][%[[P]]] mask(%[[M]], %[[M]] : vector<32xi1>, vector<32xi1>) lane_stride 2 align 2
  %u:2 = kernel.load %x[%p] mask(%m, %m : vector<32xi1>, vector<32xi1>)
      lane_stride 2 align 2
      : !kernel.buffer<bf16>, vector<32xbf16>, vector<32xbf16>
  %a = arith.extf %w : vector<32xbf16> to vector<32xf32>
  // CHECK: %[[F:.*]] = kernel.fma %[[A:.*]], %[[A]], %[[A]] : vector<32xf32>
  %f = kernel.fma %a, %a, %a : vector<32xf32>
  // CHECK: %[[R:.*]] = kernel.sqrt %[[F]] : vector<32xf32>
  %r = kernel.sqrt %f : vector<32xf32>
  // CHECK: kernel.narrow %[[R]] : vector<32xf32> to vector<32xbf16>
  %n = kernel.narrow %r : vector<32xf32> to vector<32xbf16>
  // A store of the value's own format makes NaN canonical.
  // CHECK: %[[K:.*]] = kernel.narrow %[[R]] : vector<32xf32> to vector<32xf32>
  %k = kernel.narrow %r : vector<32xf32> to vector<32xf32>
  // CHECK: kernel.exchange %[[K]] distance 16 : vector<32xf32>
  %e = kernel.exchange %k distance 16 : vector<32xf32>
  // CHECK: kernel.store %[[K]] to %[[Y]][%[[P]]] mask(%[[M]] : vector<32xi1>) lane_stride 0 align 4 : <f32>, vector<32xf32>
  kernel.store %k to %y[%p] mask(%m : vector<32xi1>) lane_stride 0 align 4
      : !kernel.buffer<f32>, vector<32xf32>
  // CHECK: kernel.store %[[K]], %{{.*}} to %[[Y]][%[[P]], %[[L]] : vector<32xi64>] lane_stride 2 align 8 : <f32>, vector<32xf32>, vector<32xf32>
  kernel.store %k, %e to %y[%p, %l : vector<32xi64>] lane_stride 2 align 8
      : !kernel.buffer<f32>, vector<32xf32>, vector<32xf32>
  // CHECK: %[[C:.*]] = kernel.scratch : <16 x vector<32xf32>>
  %c = kernel.scratch : <16 x vector<32xf32>>
  // CHECK: kernel.poke %[[K]], %[[C]][%[[P]]] : vector<32xf32>, <16 x vector<32xf32>>
  kernel.poke %k, %c[%p] : vector<32xf32>, <16 x vector<32xf32>>
  // CHECK: kernel.peek %[[C]][%[[P]]] : <16 x vector<32xf32>>, vector<32xf32>
  %g = kernel.peek %c[%p] : <16 x vector<32xf32>>, vector<32xf32>
  // CHECK: kernel.return
  kernel.return
}

// After distribution lane values are scalars; a CTA's program gathers.
// CHECK-LABEL: kernel.func @threads
// CHECK-SAME: rows ""
// CHECK-SAME: schedule <"row_per_group", lanes = 128, subgroup = 32, programs_per_group = 1, vector_bytes = 0, unroll = 16>
kernel.func @threads(%x: !kernel.buffer<f64>, %hidden: i64)
    slots ["x", "hidden"] rows ""
    schedule <"row_per_group", lanes = 128, subgroup = 32,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // CHECK: kernel.lane : i64
  %l = kernel.lane : i64
  // CHECK: %[[V:.*]] = kernel.load %{{.*}}[%{{.*}}] lane_stride 1 align 8 : <f64>, f64
  %v = kernel.load %x[%hidden] lane_stride 1 align 8 : !kernel.buffer<f64>, f64
  // CHECK: kernel.gather %[[V]] subgroup 32 : f64 -> f64, f64, f64, f64
  %g:4 = kernel.gather %v subgroup 32 : f64 -> f64, f64, f64, f64
  // CHECK: kernel.narrow %{{.*}} : f64 to f16
  %n = kernel.narrow %g#0 : f64 to f16
  kernel.return
}

// CHECK: test.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16>
// CHECK-SAME: test.scratch = !kernel.scratch<16 x f32>
module attributes {
  test.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
                                   programs_per_group = 1, vector_bytes = 0,
                                   unroll = 16>,
  test.scratch = !kernel.scratch<16 x f32>
} {}

// CHECK-LABEL: kernel.func @parts(
// CHECK-SAME: schedule <"row_per_lane", lanes = 32, subgroup = 32, programs_per_group = 1, vector_bytes = 16, unroll = 16 rows_per_lane = 8 split = 256>
// CHECK-SAME: split = #kernel.split<"tokens", length = 256, less = 0>
kernel.func @parts(%at: !kernel.buffer<i32>, %tokens: i64, %hidden: i64)
    slots ["at", "tokens", "hidden"] rows "hidden"
    schedule <"row_per_lane", lanes = 32, subgroup = 32,
              programs_per_group = 1, vector_bytes = 16, unroll = 16
              rows_per_lane = 8 split = 256>
    attributes {split = #kernel.split<"tokens", length = 256, less = 0>} {
  // CHECK: %[[P:.*]] = kernel.part
  %p = kernel.part
  // CHECK: kernel.read %{{.*}}[%[[P]]] : <i32>, i32
  %b = kernel.read %at[%p] : !kernel.buffer<i32>, i32
  kernel.return
}
