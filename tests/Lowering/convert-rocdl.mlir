// convert-rocdl.mlir - distributed kernels to ROCDL
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-rocdl | FileCheck %s

// CHECK-LABEL: llvm.func protected @wave(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %[[Y:.*]]: !llvm.ptr<1> {llvm.noalias}, %[[ROWS:.*]]: i64)
// CHECK-SAME: rocdl.flat_work_group_size = "256,256"
// CHECK-SAME: rocdl.kernel
// CHECK-SAME: rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
kernel.func @wave(%x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>, %rows: i64)
    slots ["x", "y", "rows"] rows "rows"
    schedule <"row_per_group", lanes = 64, subgroup = 64,
              programs_per_group = 4, vector_bytes = 16, unroll = 16> {
  // Four waves, four programs; those beyond the last row leave.
  // CHECK: %[[TID:.*]] = rocdl.workitem.id.x
  // CHECK: rocdl.workgroup.id.x
  // CHECK: %[[WORKS:.*]] = llvm.icmp "slt" %{{.*}}, %[[ROWS]]
  // CHECK: llvm.cond_br %[[WORKS]], ^[[BODY:.*]], ^[[EXIT:.*]]
  // CHECK: ^[[BODY]]:
  %p = kernel.program
  %l = kernel.lane : i64
  %m = arith.cmpi slt, %l, %rows : i64
  // Nothing is read where the mask is false.
  // CHECK: scf.if
  // CHECK-NEXT: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  %w = kernel.load %x[%p] mask(%m : i1) lane_stride 1 align 4
      : !kernel.buffer<f32>, f32
  // CHECK: %[[R:.*]] = llvm.intr.sqrt
  %r = kernel.sqrt %w : f32
  // The lane in its wave, the one at the distance, four bytes each.
  // CHECK: %[[C63:.*]] = llvm.mlir.constant(63 : i32)
  // CHECK: %[[LANE:.*]] = llvm.and %[[TID]], %[[C63]]
  // CHECK: %[[C32:.*]] = llvm.mlir.constant(32 : i32)
  // CHECK: %[[FROM:.*]] = llvm.xor %[[LANE]], %[[C32]]
  // CHECK: %[[C2:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: %[[AT:.*]] = llvm.shl %[[FROM]], %[[C2]]
  // CHECK: %[[BITS:.*]] = llvm.bitcast %[[R]] : f32 to i32
  // CHECK: rocdl.ds_bpermute %[[AT]], %[[BITS]]
  %e = kernel.exchange %r distance 32 : f32
  // 64 bits cross in halves.
  %d = arith.extf %e : f32 to f64
  // CHECK: llvm.bitcast %{{.*}} : f64 to vector<2xi32>
  // CHECK-COUNT-2: rocdl.ds_bpermute
  %g = kernel.exchange %d distance 1 : f64
  kernel.store %r to %y[%p] mask(%m : i1) lane_stride 0 align 4
      : !kernel.buffer<f32>, f32
  // CHECK: ^[[EXIT]]:
  // CHECK-NEXT: llvm.return
  kernel.return
}

// CHECK: llvm.mlir.global internal @cta_gather0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x f32>
// CHECK-LABEL: llvm.func protected @cta(
kernel.func @cta(%x: !kernel.buffer<f32>) slots ["x"] rows ""
    schedule <"row_per_group", lanes = 128, subgroup = 64,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  // Scratch is reserved once, in the entry block, in private memory.
  // CHECK: llvm.alloca %{{.*}} x f32 : (i64) -> !llvm.ptr<5>
  %s = kernel.scratch : <4 x f32>
  %c = arith.constant 1 : i64
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<5> -> f32
  %v = kernel.peek %s[%c] : <4 x f32>, f32
  // What was written is seen after the barrier.
  // CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<3>
  // CHECK-NEXT: llvm.fence syncscope("workgroup") release
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NOT: rocdl.s.barrier
  %g:2 = kernel.gather %v subgroup 64 : f32 -> f32, f32
  kernel.poke %g#1, %s[%c] : f32, <4 x f32>
  kernel.return
}

// Two programs share a wave: none leaves, the last is repeated.
// CHECK-LABEL: llvm.func protected @half(
// CHECK: llvm.intr.smin
// CHECK-NOT: llvm.cond_br
kernel.func @half(%x: !kernel.buffer<f32>, %rows: i64)
    slots ["x", "rows"] rows "rows"
    schedule <"row_per_group", lanes = 32, subgroup = 32,
              programs_per_group = 8, vector_bytes = 0, unroll = 16> {
  %p = kernel.program
  kernel.return
}
