// expand-narrow.mlir - roundings in operations whose bits are known
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --kernel-expand-narrow | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: bitpact-opt %s --pass-pipeline="builtin.module(kernel.func(kernel-expand-narrow{keep-bf16=true}))" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GPU

// CHECK-LABEL: kernel.func @bf16
kernel.func @bf16(%x: !kernel.buffer<f32>, %y: !kernel.buffer<bf16>, %o: i64)
    slots ["x", "y", "o"] rows ""
    schedule <"row_per_lane", lanes = 8, subgroup = 8,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // CHECK: %[[V:.*]] = kernel.load
  %v = kernel.load %x[%o] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>
  // CPU: %[[B:.*]] = arith.bitcast %[[V]] : vector<8xf32> to vector<8xi32>
  // CPU: %[[S:.*]] = arith.shrui %[[B]], %{{.*}}
  // CPU: %[[LAST:.*]] = arith.andi %[[S]], %{{.*}}
  // CPU: %[[UP:.*]] = arith.addi %[[LAST]], %{{.*}}
  // CPU: %[[R:.*]] = arith.addi %[[B]], %[[UP]]
  // CPU: arith.shrui %[[R]]
  // CPU-DAG: %[[NAN:.*]] = arith.cmpf uno, %[[V]], %[[V]]
  // CPU-DAG: %[[Q:.*]] = arith.constant dense<32704> : vector<8xi32>
  // CPU: %[[C:.*]] = arith.select %[[NAN]], %[[Q]]
  // CPU: %[[H:.*]] = arith.trunci %[[C]]
  // CPU: %[[N:.*]] = arith.bitcast %[[H]] : vector<8xi16> to vector<8xbf16>
  // The instruction of the GPU rounds; the NaN it gives is another.
  // GPU: %[[NAN:.*]] = arith.constant dense<0x7FC0> : vector<8xbf16>
  // GPU: %[[T:.*]] = arith.truncf %[[V]] : vector<8xf32> to vector<8xbf16>
  // GPU: %[[IS:.*]] = arith.cmpf uno, %[[V]], %[[V]]
  // GPU: %[[N:.*]] = arith.select %[[IS]], %[[NAN]], %[[T]]
  %n = kernel.narrow %v : vector<8xf32> to vector<8xbf16>
  // CHECK: kernel.store %[[N]]
  kernel.store %n to %y[%o] lane_stride 1 align 2
      : !kernel.buffer<bf16>, vector<8xbf16>
  // bf16 is the upper half of f32.
  // CPU: arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
  // CPU: arith.shli
  // CPU-NOT: arith.extf
  // GPU: arith.extf %[[N]] : vector<8xbf16> to vector<8xf32>
  %w = arith.extf %n : vector<8xbf16> to vector<8xf32>
  kernel.store %w to %x[%o] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>
  kernel.return
}

// Of what is but computed with, GPUs of NVIDIA keep the NaN that they make.
// CHECK-LABEL: kernel.func @widened
kernel.func @widened(%x: !kernel.buffer<f32>, %o: i64)
    slots ["x", "o"] rows ""
    schedule <"row_per_lane", lanes = 8, subgroup = 8,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // CHECK: %[[V:.*]] = kernel.load
  %v = kernel.load %x[%o] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  // CPU: arith.cmpf uno
  // CPU: arith.select
  // GPU: %[[T:.*]] = arith.truncf %[[V]] : f32 to bf16
  // GPU-NOT: arith.select
  // GPU: arith.extf %[[T]] : bf16 to f32
  %n = kernel.narrow %v : f32 to bf16
  %w = arith.extf %n : bf16 to f32
  %sum = arith.addf %w, %v : f32
  kernel.store %sum to %x[%o] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  kernel.return
}

// CHECK-LABEL: kernel.func @others
kernel.func @others(%x: !kernel.buffer<f64>, %o: i64) slots ["x", "o"] rows ""
    schedule <"row_per_lane", lanes = 8, subgroup = 8,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // CHECK: %[[V:.*]] = kernel.load
  %v = kernel.load %x[%o] lane_stride 1 align 8 : !kernel.buffer<f64>, f64
  // One instruction rounds f64 to f32.
  // CHECK: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK: %[[T:.*]] = arith.truncf %[[V]] : f64 to f32
  // CHECK: arith.select %{{.*}}, %[[NAN]], %[[T]] : f32
  %a = kernel.narrow %v : f64 to f32
  // f64 to 16 bits goes over f32, rounded to odd: its last bit says that
  // something was lost.
  // CHECK: %[[NEAR:.*]] = arith.truncf %[[V]] : f64 to f32
  // CHECK: arith.extf %[[NEAR]] : f32 to f64
  // CHECK: %[[LESS:.*]] = arith.subi
  // CHECK: arith.ori %[[LESS]]
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %b = kernel.narrow %v : f64 to f16
  // The format stays; NaN becomes the canonical one.
  // CHECK: %[[Q:.*]] = arith.constant 0x7FF8000000000000 : f64
  // CHECK: %[[IS:.*]] = arith.cmpf uno, %[[V]], %[[V]]
  // CHECK: arith.select %[[IS]], %[[Q]], %[[V]] : f64
  %c = kernel.narrow %v : f64 to f64
  // CHECK-NOT: kernel.narrow
  kernel.return
}
