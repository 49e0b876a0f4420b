// convert-tiles-split.mlir - units that share a block as CTAs of a cluster
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm --split-input-file | FileCheck %s

!a = !tile.block<64x64xbf16>
!b = !tile.block<16x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
!sums = !tile.pending<64x16xf32>
!values = !tile.values<64x16xf32>
!half = !tile.values<64x16xbf16>

// Behind the stages, 2 x (64 + 16) x 128 bytes, lies what two units bring: of 64 x 8
// values in f32, and as many in bf16. Its barriers are the last.
// CHECK-LABEL: llvm.func @units(
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
tile.func @units(%x: !kernel.buffer<bf16>, %sx: i64, %w: !kernel.buffer<bf16>, %sw: i64, %y: !kernel.buffer<f32>, %sy: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "w", "w:0", "y", "y:0", "tokens", "out", "in"]
    schedule <m = 64, n = 16, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 2> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vw = tile.view %w[%out, %in] stride %sw : !kernel.buffer<bf16>, !tile.view<bf16>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<f32>, !tile.view<f32>
  // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  %unit = tile.unit
  %pipe = tile.pipe : !pipe
  tile.roles producer {
    // CHECK: nvvm.read.ptx.sreg.clusterid.x
    %row = tile.program
    %depth = arith.constant 0 : i32
    %a, %b = tile.acquire %pipe : !pipe -> !a, !b
    tile.fetch %vx[%row, %depth] to %a : !tile.view<bf16>, !a
    tile.fetch %vw[%row, %depth] to %b : !tile.view<bf16>, !b
    tile.commit %pipe : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %s = tile.dot %a, %b atom "dot.nv(16,25)" : !a, !b -> !sums
    %v = tile.await %s : !sums -> !values
    tile.release %pipe : !pipe
    %n = tile.map %v : !values -> !half {
    ^bb0(%e: f32):
      %r = kernel.narrow %e : f32 to bf16
      tile.yield %r : bf16
    }
    // What was brought before has been taken, by four warps of each unit.
    // CHECK: try_wait.parity.acquire.cluster.shared::cta
    // CHECK: mbarrier.arrive.expect_tx
    // CHECK: scf.if
    // Two pairs at a time, of eight columns: to unit 0, and to unit 1.
    // CHECK-COUNT-1: complete_tx::bytes.v4.b32
    // CHECK-COUNT-1: complete_tx::bytes.v2.b32
    // CHECK-COUNT-1: complete_tx::bytes.v4.b32
    // CHECK-COUNT-1: complete_tx::bytes.v2.b32
    // CHECK-NOT: complete_tx::bytes.v
    // CHECK: try_wait.parity.acquire.cluster.shared::cta
    // CHECK: llvm.mlir.constant(20480 : i32)
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    // CHECK: llvm.getelementptr %{{.*}}[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xbf16>
    // CHECK: llvm.getelementptr %{{.*}}[3072] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    // CHECK: nvvm.bar.warp.sync
    // CHECK: mbarrier.arrive.release.cluster.shared::cluster.b64
    %all:4 = tile.meet %v, %n rows %number : !values, !half
      -> !tile.values<64x8xf32>, !tile.values<64x8xbf16>, !tile.values<64x8xf32>, !tile.values<64x8xbf16>
    tile.put %all#2 to %vy[%number, %unit] : !tile.values<64x8xf32>, !tile.view<f32>
  }
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK: llvm.return
}
