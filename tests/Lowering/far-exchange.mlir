// far-exchange.mlir - lanes of other subgroups meet in two sets of cells in turn
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --kernel-distribute --convert-kernel-to-nvvm | FileCheck %s

// CHECK: llvm.mlir.global internal @f_gather0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK: llvm.mlir.global internal @f_gather1() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK-NOT: llvm.mlir.global
// CHECK-LABEL: llvm.func @f
kernel.func @f(%y: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %n: i64)
    slots ["y", "x", "n"] rows ""
    schedule <"row_per_group", lanes = 64, subgroup = 32,
              programs_per_group = 1, vector_bytes = 0, unroll = 1> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = kernel.load %x[%zero] lane_stride 1 align 4 : !kernel.buffer<f32>, vector<64xf32>
  // CHECK: %[[A:.*]] = llvm.mlir.addressof @f_gather0
  // CHECK: llvm.store
  // CHECK-NEXT: nvvm.barrier
  // CHECK: llvm.xor
  // CHECK: llvm.load
  // CHECK-NOT: nvvm.barrier
  %b = kernel.exchange %a distance 32 far : vector<64xf32>
  // CHECK: llvm.mlir.addressof @f_gather1
  // CHECK: nvvm.barrier
  // CHECK-NOT: nvvm.barrier
  %c = kernel.exchange %b distance 32 far : vector<64xf32>
  // In a loop the cells are written again.
  // CHECK: scf.for
  // CHECK: llvm.mlir.addressof @f_gather0
  // CHECK: nvvm.barrier
  // CHECK: llvm.load
  // CHECK-NEXT: nvvm.barrier
  %d = scf.for %i = %zero to %n step %one iter_args(%v = %c) -> (vector<64xf32>) : i64 {
    %w = kernel.exchange %v distance 32 far : vector<64xf32>
    scf.yield %w : vector<64xf32>
  }
  kernel.store %d to %y[%zero] lane_stride 1 align 4 : !kernel.buffer<f32>, vector<64xf32>
  kernel.return
}
