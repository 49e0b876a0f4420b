// convert-cpu.mlir - kernels whose lanes are elements of vector registers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-cpu | FileCheck %s

// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: %[[SLOTS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
kernel.func @f(%x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>, %n: i64)
    slots ["x", "y", "n"] rows "n"
    schedule <"row_per_group", lanes = 4, subgroup = 4,
              programs_per_group = 1, vector_bytes = 1, unroll = 16> {
  // Scratch lies outside of the loop over programs.
  // CHECK: llvm.alloca %{{.*}} x vector<4xf32>
  // CHECK: llvm.getelementptr %[[SLOTS]][2]
  // CHECK: scf.for %[[P:.*]] = %[[BEGIN]] to %[[END]]
  %p = kernel.program
  // CHECK: arith.constant dense<[0, 1, 2, 3]> : vector<4xi64>
  %l = kernel.lane : vector<4xi64>
  %v = kernel.load %x[%p] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<4xf32>
  // CHECK: llvm.intr.fma
  %f = kernel.fma %v, %v, %v : vector<4xf32>
  // CHECK: llvm.intr.sqrt
  %r = kernel.sqrt %f : vector<4xf32>
  // CHECK: llvm.shufflevector %[[R:.*]], %[[R]] [2, 3, 0, 1] : vector<4xf32>
  %e = kernel.exchange %r distance 2 : vector<4xf32>
  %c = kernel.scratch : <4 x vector<4xf32>>
  // CHECK: llvm.store %{{.*}}, %{{.*}} : vector<4xf32>, !llvm.ptr
  kernel.poke %e, %c[%p] : vector<4xf32>, <4 x vector<4xf32>>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<4xf32>
  %g = kernel.peek %c[%p] : <4 x vector<4xf32>>, vector<4xf32>
  %z = arith.constant dense<0> : vector<4xi64>
  %m = arith.cmpi eq, %l, %z : vector<4xi64>
  kernel.store %g to %y[%p] mask(%m : vector<4xi1>) lane_stride 0 align 4
      : !kernel.buffer<f32>, vector<4xf32>
  // CHECK-NOT: kernel.
  kernel.return
}
