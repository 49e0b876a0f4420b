// convert-tiles-results.mlir - what room stages leave for results on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm --split-input-file | FileCheck %s

!a = !tile.block<192x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<192x64xbf16>
!pipe = !tile.pipe<3 of !a, !b>

// Behind 3 x (192 + 192) x 128 bytes each of three consumers has two boxes of 64
// rows of 128 bytes: one is filled while the other is on its way.
// CHECK-LABEL: llvm.func @two(
// CHECK-SAME: nvvm.reqntid = array<i32: 512, 1, 1>
// CHECK: nvvm.setmaxregister decrease 32
// CHECK: nvvm.setmaxregister increase 160
tile.func @two(%y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64)
    slots ["y", "y:0", "tokens", "out"]
    schedule <m = 192, n = 192, k = 64, stages = 3, consumers = 3, group = 1, copy = "bulk", producer_registers = 32, consumer_registers = 160> {
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x192xf32>
    %v = tile.await %s : !tile.pending<64x192xf32> -> !tile.values<64x192xf32>
    tile.release %pipe : !pipe
    %n = tile.map %v : !tile.values<64x192xf32> -> !tile.values<64x192xbf16> {
    ^bb0(%e: f32):
      %h = kernel.narrow %e : f32 to bf16
      tile.yield %h : bf16
    }
    // CHECK: nvvm.mbarrier.arrive
    // CHECK-DAG: %[[FIRST:.*]] = llvm.mlir.constant(147456 : i32)
    // CHECK-DAG: %[[STEP:.*]] = llvm.mlir.constant(16384 : i32)
    // CHECK-DAG: %[[OWN:.*]] = llvm.mul %{{.*}}, %[[STEP]]
    // CHECK: llvm.add %[[FIRST]], %[[OWN]]
    // CHECK-COUNT-3: nvvm.cp.async.bulk.wait_group 1 {read}
    // CHECK-NOT: nvvm.cp.async.bulk.wait_group 0
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    %z = arith.constant 0 : i32
    tile.put %n to %vy[%z, %z] : !tile.values<64x192xbf16>, !tile.view<bf16>
  }
}

// -----

!a = !tile.block<192x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<192x64xbf16>
!pipe = !tile.pipe<4 of !a, !b>

// Behind a stage more there is room for one.
// CHECK-LABEL: llvm.func @one(
tile.func @one(%y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64)
    slots ["y", "y:0", "tokens", "out"]
    schedule <m = 192, n = 192, k = 64, stages = 4, consumers = 3, group = 1, copy = "bulk", producer_registers = 32, consumer_registers = 160> {
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x192xf32>
    %v = tile.await %s : !tile.pending<64x192xf32> -> !tile.values<64x192xf32>
    tile.release %pipe : !pipe
    %n = tile.map %v : !tile.values<64x192xf32> -> !tile.values<64x192xbf16> {
    ^bb0(%e: f32):
      %h = kernel.narrow %e : f32 to bf16
      tile.yield %h : bf16
    }
    // CHECK: nvvm.mbarrier.arrive
    // CHECK-DAG: %[[FIRST:.*]] = llvm.mlir.constant(196608 : i32)
    // CHECK-DAG: %[[STEP:.*]] = llvm.mlir.constant(8192 : i32)
    // CHECK-DAG: %[[OWN:.*]] = llvm.mul %{{.*}}, %[[STEP]]
    // CHECK: llvm.add %[[FIRST]], %[[OWN]]
    // CHECK-COUNT-3: nvvm.cp.async.bulk.wait_group 0 {read}
    // CHECK-NOT: nvvm.cp.async.bulk.wait_group 1
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    %z = arith.constant 0 : i32
    tile.put %n to %vy[%z, %z] : !tile.values<64x192xbf16>, !tile.view<bf16>
  }
}

// -----

!a = !tile.block<128x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<9 of !a, !b>

// Where none is left, results leave from registers.
// CHECK-LABEL: llvm.func @none(
tile.func @none(%y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64)
    slots ["y", "y:0", "tokens", "out"]
    schedule <m = 128, n = 64, k = 64, stages = 9, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
    %v = tile.await %s : !tile.pending<64x64xf32> -> !tile.values<64x64xf32>
    tile.release %pipe : !pipe
    %n = tile.map %v : !tile.values<64x64xf32> -> !tile.values<64x64xbf16> {
    ^bb0(%e: f32):
      %h = kernel.narrow %e : f32 to bf16
      tile.yield %h : bf16
    }
    // CHECK-NOT: nvvm.cp.async.bulk
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    // CHECK-NOT: nvvm.cp.async.bulk
    %z = arith.constant 0 : i32
    tile.put %n to %vy[%z, %z] : !tile.values<64x64xbf16>, !tile.view<bf16>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<40x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>

// So do those of one consumer. Lanes of a quad exchange pairs: of 32 columns each has
// sixteen bytes in a row then, of the eight that remain four. A piece is stored where
// its row and its first column exist. Rows that are not made of pieces are stored by
// elements.
// CHECK-LABEL: llvm.func @pieces(
// CHECK-SAME: %[[Y:[^:]*]]: !llvm.ptr<1> {llvm.noalias}, %[[STRIDE:[^:]*]]: i64, %[[TOKENS:[^:]*]]: i64, %[[OUT:[^:]*]]: i64
tile.func @pieces(%y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64)
    slots ["y", "y:0", "tokens", "out"]
    schedule <m = 64, n = 40, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x40xf32>
    %v = tile.await %s : !tile.pending<64x40xf32> -> !tile.values<64x40xf32>
    tile.release %pipe : !pipe
    %n = tile.map %v : !tile.values<64x40xf32> -> !tile.values<64x40xbf16> {
    ^bb0(%e: f32):
      %h = kernel.narrow %e : f32 to bf16
      tile.yield %h : bf16
    }
    // CHECK: %[[ROW:.*]] = llvm.or %[[STRIDE]], %[[OUT]] : i64
    // CHECK: llvm.mul %[[ROW]], %{{.*}} : i64
    // CHECK: llvm.ptrtoint %[[Y]]
    // CHECK: %[[PIECES:.*]] = llvm.icmp "eq"
    // CHECK: scf.if %[[PIECES]] {
    // CHECK-COUNT-4: nvvm.shfl.sync bfly
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    // CHECK-COUNT-4: nvvm.shfl.sync bfly
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    // CHECK: } else {
    // CHECK-NOT: nvvm.shfl.sync
    // CHECK: llvm.store %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
    // CHECK: scf.if %[[PIECES]] {
    // CHECK-NOT: nvvm.shfl.sync
    // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 4 : i64} : vector<1xi32>, !llvm.ptr<1>
    %z = arith.constant 0 : i32
    tile.put %n to %vy[%z, %z] : !tile.values<64x40xbf16>, !tile.view<bf16>
  }
}
