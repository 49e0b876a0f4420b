// convert-nvvm.mlir - distributed kernels to NVVM
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm | FileCheck %s

// CHECK-LABEL: llvm.func @warp(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[Y:.*]]: !llvm.ptr<1> {llvm.noalias}, %[[ROWS:.*]]: i64)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
kernel.func @warp(%x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>, %rows: i64)
    slots ["x", "y", "rows"] rows "rows"
    schedule <"row_per_group", lanes = 32, subgroup = 32,
              programs_per_group = 4, vector_bytes = 16, unroll = 16> {
  // Four warps, four programs; those beyond the last row leave.
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: nvvm.read.ptx.sreg.ctaid.x
  // CHECK: llvm.lshr
  // CHECK: %[[P:.*]] = llvm.add
  // CHECK: %[[WORKS:.*]] = llvm.icmp "slt" %[[P]], %[[ROWS]]
  // CHECK: llvm.cond_br %[[WORKS]], ^[[BODY:.*]], ^[[EXIT:.*]]
  // CHECK: ^[[BODY]]:
  %p = kernel.program
  %l = kernel.lane : i64
  %m = arith.cmpi slt, %l, %rows : i64
  // One access of 16 bytes.
  // CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK: %[[V0:.*]] = llvm.extractelement %[[V]]
  %v:4 = kernel.load %x[%p] lane_stride 4 align 16
      : !kernel.buffer<f32>, f32, f32, f32, f32
  // Nothing is read where the mask is false.
  // CHECK: scf.if
  // CHECK-NEXT: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %w = kernel.load %x[%p] mask(%m : i1) lane_stride 1 align 4
      : !kernel.buffer<f32>, f32
  // CHECK: %[[F:.*]] = llvm.intr.fma(%[[V0]]
  %f = kernel.fma %v#0, %v#1, %w : f32
  // CHECK: %[[R:.*]] = llvm.intr.sqrt(%[[F]])
  %r = kernel.sqrt %f : f32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[R]], %{{.*}}, %{{.*}} : f32 -> f32
  %e = kernel.exchange %r distance 16 : f32
  // 64 bits cross in halves.
  %d = arith.extf %e : f32 to f64
  // CHECK: llvm.bitcast %{{.*}} : f64 to vector<2xi32>
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  %g = kernel.exchange %d distance 1 : f64
  // CHECK: scf.if
  // CHECK-NEXT: llvm.store %[[R]], %{{.*}} {alignment = 4 : i64}
  kernel.store %r to %y[%p] mask(%m : i1) lane_stride 0 align 4
      : !kernel.buffer<f32>, f32
  // CHECK: ^[[EXIT]]:
  // CHECK-NEXT: llvm.return
  kernel.return
}

// CHECK: llvm.mlir.global internal @cta_gather0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>
// CHECK-LABEL: llvm.func @cta(
kernel.func @cta(%x: !kernel.buffer<f32>) slots ["x"] rows ""
    schedule <"row_per_group", lanes = 64, subgroup = 32,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // Scratch is reserved once, in the entry block.
  // CHECK: llvm.alloca %{{.*}} x f32
  // CHECK: llvm.br
  %c0 = arith.constant 0 : i64
  %v = kernel.load %x[%c0] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  // CHECK: llvm.store %[[V:.*]], %{{.*}} : f32, !llvm.ptr<3>
  // CHECK-NEXT: nvvm.barrier
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NOT: nvvm.barrier
  %g:2 = kernel.gather %v subgroup 32 : f32 -> f32, f32
  // In a loop the cells are written again: not before all have read them.
  // CHECK: scf.for
  // CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<3>
  // CHECK-NEXT: nvvm.barrier
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NEXT: nvvm.barrier
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  scf.for %i = %c0 to %c2 step %c1 : i64 {
    %w = kernel.load %x[%i] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
    %h:2 = kernel.gather %w subgroup 32 : f32 -> f32, f32
    kernel.store %h#1 to %x[%i] lane_stride 1 align 4
        : !kernel.buffer<f32>, f32
  }
  %s = kernel.scratch : <4 x f32>
  kernel.poke %g#0, %s[%c0] : f32, <4 x f32>
  %k = kernel.peek %s[%c0] : <4 x f32>, f32
  kernel.store %k to %x[%c0] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  kernel.return
}

// Packs that start anywhere: the two windows of 16 bytes in which one lies,
// shifted, the second where the next lane has elements, else words of it. A
// store hands its last words to the next lane.
// CHECK-LABEL: llvm.func @anywhere(
kernel.func @anywhere(%x: !kernel.buffer<bf16>, %y: !kernel.buffer<bf16>)
    slots ["x", "y"] rows ""
    schedule <"row_per_group", lanes = 32, subgroup = 32,
              programs_per_group = 1, vector_bytes = 1, unroll = 16> {
  %c0 = arith.constant 0 : i64
  // CHECK: %[[SKEW:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: scf.if
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: scf.if
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
  // CHECK-COUNT-4: llvm.intr.fshr
  %v:8 = kernel.load %x[%c0] lane_stride 8 align 2
      : !kernel.buffer<bf16>, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  // CHECK-COUNT-4: nvvm.shfl.sync up
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
  kernel.store %v#0, %v#1, %v#2, %v#3, %v#4, %v#5, %v#6, %v#7 to %y[%c0]
      lane_stride 8 align 2 : !kernel.buffer<bf16>,
      bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  kernel.return
}

// CHECK-LABEL: llvm.func @part(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1> {{.*}}, %[[ROWS:.*]]: i64)
kernel.func @part(%x: !kernel.buffer<f32>, %rows: i64)
    slots ["x", "rows"] rows "rows"
    schedule <"row_per_group", lanes = 8, subgroup = 8,
              programs_per_group = 16, vector_bytes = 0, unroll = 16> {
  // Four programs share a warp, whose threads must all reach its shuffles:
  // those beyond the last row repeat it.
  // CHECK: %[[LAST:.*]] = llvm.sub %[[ROWS]], %{{.*}} : i64
  // CHECK: %[[P:.*]] = llvm.intr.smin(%{{.*}}, %[[LAST]])
  // CHECK-NOT: llvm.cond_br
  // CHECK: llvm.getelementptr %[[X]]
  %p = kernel.program
  %v = kernel.load %x[%p] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  // CHECK: nvvm.shfl.sync bfly
  %e = kernel.exchange %v distance 4 : f32
  kernel.store %e to %x[%p] lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  kernel.return
}
