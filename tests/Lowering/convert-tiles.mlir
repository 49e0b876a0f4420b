// convert-tiles.mlir - tile kernels to NVVM: panels, few rows, clusters
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm --split-input-file | FileCheck %s

!a = !tile.block<16x128xbf16>
!b = !tile.block<32x128xbf16>
!pipe = !tile.pipe<2 of !a, !b>
!sums = !tile.pending<16x32xf32>

// Sixteen rows of `x` at most, in two panels of 64 columns: 2 x 2 x 16 x 128
// bytes of them lie before those of `w`. A program is a CTA.
// CHECK-LABEL: llvm.func @few(
// CHECK-SAME: nvvm.kernel
// CHECK-NOT: nvvm.cluster_dim
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
tile.func @few(%x: !kernel.buffer<bf16>, %sx: i64, %w: !kernel.buffer<bf16>, %sw: i64, %y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "w", "w:0", "y", "y:0", "tokens", "out", "in"]
    schedule <m = 16, n = 32, k = 128, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vw = tile.view %w[%out, %in] stride %sw : !kernel.buffer<bf16>, !tile.view<bf16>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  // What follows may begin; what was before has ended.
  // CHECK: nvvm.griddepcontrol launch_dependents
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NOT: nvvm.setmaxregister
  tile.roles producer {
    // CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
    // CHECK-DAG: %[[BOXES:.*]] = arith.constant 2 : i32
    // CHECK-DAG: %[[ROWS:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 12288 : i32
    %row = tile.program
    %depth = arith.constant 0 : i32
    %boxes = arith.constant 2 : i32
    %rows = arith.constant 8 : i32
    %bytes = arith.constant 12288 : i32
    %alone = arith.constant true
    %a, %b = tile.acquire %pipe : !pipe -> !a, !b
    // Each box of `x` lies below the one before it, 128 bytes a row.
    // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[BOXES]] step
    // CHECK: llvm.mul %[[I]], %[[ROWS]]
    // CHECK: llvm.mlir.constant(128 : i32)
    // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK-NOT: l2_cache_hint
    // CHECK: }
    // What nobody else takes need not stay in the cache.
    // CHECK: scf.if
    // CHECK: %[[FIRST:.*]] = llvm.inline_asm {{.*}}evict_first
    // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global{{.*}}l2_cache_hint = %[[FIRST]]
    // CHECK: } else {
    // CHECK-NOT: l2_cache_hint
    // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // Bytes are counted when all has been said.
    // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
    tile.fetch %vx[%row, %depth] to %a boxes %boxes of %rows : !tile.view<bf16>, !a
    tile.fetch %vw[%row, %depth] to %b once %alone : !tile.view<bf16>, !b
    tile.commit %pipe bytes %bytes : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    // Eight steps of sixteen elements: 32 bytes apart in a panel; from one
    // panel to the next 16 rows of `x` and 32 of `w`, counted in 16 bytes.
    // CHECK: %[[A:.*]] = llvm.or
    // CHECK: %[[A6:.*]] = llvm.mlir.constant(6 : i64)
    // CHECK: llvm.add %[[A]], %[[A6]]
    // CHECK: %[[NEXT:.*]] = llvm.mlir.constant(128 : i64)
    // CHECK: llvm.add %[[A]], %[[NEXT]]
    // CHECK: %[[B:.*]] = llvm.or
    // CHECK: %[[BNEXT:.*]] = llvm.mlir.constant(256 : i64)
    // CHECK: llvm.add %[[B]], %[[BNEXT]]
    // CHECK: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
    // A warpgroup has sums of 64 rows.
    // CHECK-SAME: "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,l,
    %s = tile.dot %a, %b atom "dot.nv(16,25)" : !a, !b -> !sums
    %v = tile.await %s : !sums -> !tile.values<16x32xf32>
    tile.release %pipe : !pipe
    %n = tile.map %v : !tile.values<16x32xf32> -> !tile.values<16x32xbf16> {
    ^bb0(%e: f32):
      %r = kernel.narrow %e : f32 to bf16
      tile.yield %r : bf16
    }
    // Of which sixteen are stored.
    // CHECK: %[[ROWS:.*]] = llvm.mlir.constant(16 : i64)
    // CHECK: llvm.add %{{.*}}, %[[ROWS]]
    // CHECK: llvm.intr.smin
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    %z = arith.constant 0 : i32
    tile.put %n to %vy[%z, %z] : !tile.values<16x32xbf16>, !tile.view<bf16>
  }
}

// -----

!a = !tile.block<128x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<3 of !a, !b>
!sums = !tile.pending<64x64xf32>

// Two CTAs, a consumer each: of `x` each has its 64 rows, of `w` it brings 32
// rows to both.
// CHECK-LABEL: llvm.func @pair(
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
tile.func @pair(%x: !kernel.buffer<bf16>, %sx: i64, %w: !kernel.buffer<bf16>, %sw: i64, %y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "w", "w:0", "y", "y:0", "tokens", "out", "in"]
    schedule <m = 128, n = 64, k = 64, stages = 3, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, cluster = 2> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vw = tile.view %w[%out, %in] stride %sw : !kernel.buffer<bf16>, !tile.view<bf16>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // The warps of both CTAs free a stage.
  // CHECK: %[[WARPS:.*]] = llvm.mlir.constant(8 : i32)
  // CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  tile.roles producer {
    // CHECK: nvvm.read.ptx.sreg.clusterid.x
    // CHECK: nvvm.read.ptx.sreg.nclusterid.x
    %row = tile.program
    %all = tile.programs
    %a, %b = tile.acquire %pipe : !pipe -> !a, !b
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK-NOT: multicast_mask
    // CHECK: %[[PART:.*]] = llvm.mlir.constant(4096 : i32)
    // CHECK: llvm.mul %[[RANK]], %[[PART]]
    // CHECK: %[[BOTH:.*]] = llvm.mlir.constant(3 : i16)
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
    // CHECK-SAME: multicast_mask = %[[BOTH]]
    // 64 rows of `x`, and those of `w` that both bring.
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16384 : i32)
    // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
    tile.fetch %vx[%row, %row] to %a : !tile.view<bf16>, !a
    tile.fetch %vw[%all, %row] to %b : !tile.view<bf16>, !b
    tile.commit %pipe : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !sums
    %v = tile.await %s : !sums -> !tile.values<64x64xf32>
    // CHECK: wgmma.wait_group
    // A lane for each CTA, in the scope of the CTA: that of the cluster would
    // be a fence of the device.
    // CHECK: %[[THERE:.*]] = nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK: nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
    tile.release %pipe : !pipe
  }
  // Nobody ends before the other.
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK: llvm.return
}
