// convert-tiles-held.mlir - values that wait for other sums on sm_90a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm --split-input-file | FileCheck %s

!a = !tile.block<64x64xbf16>
!b = !tile.block<128x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
!sums = !tile.pending<64x128xf32>
!values = !tile.values<64x128xf32>

// One slot is held in registers, beside 64 of sums. The second lies behind the stages, 2 x (64 + 128) x 128 bytes, and the third 64 x 128
// x 4 bytes after it; a thread's pairs are 128 x 8 bytes apart.
// CHECK-LABEL: llvm.func @three(
tile.func @three(%x: !kernel.buffer<bf16>, %sx: i64, %w: !kernel.buffer<bf16>, %sw: i64, %y: !kernel.buffer<f32>, %sy: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "w", "w:0", "y", "y:0", "tokens", "out", "in"]
    schedule <m = 64, n = 128, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, held = 1> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vw = tile.view %w[%out, %in] stride %sw : !kernel.buffer<bf16>, !tile.view<bf16>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<f32>, !tile.view<f32>
  %pipe = tile.pipe : !pipe
  tile.roles producer {
    %row = tile.program
    %depth = arith.constant 0 : i32
    %a, %b = tile.acquire %pipe : !pipe -> !a, !b
    tile.fetch %vx[%row, %depth] to %a : !tile.view<bf16>, !a
    tile.fetch %vw[%row, %depth] to %b : !tile.view<bf16>, !b
    tile.commit %pipe : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    // CHECK: wgmma.mma_async
    // CHECK: wgmma.wait_group
    %s = tile.dot %a, %b atom "dot.nv(16,25)" : !a, !b -> !sums
    %v = tile.await %s : !sums -> !values
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "", "=f,
    %p = tile.hold %v slot 0 : !values
    %q = tile.hold %v slot 1 : !values
    // CHECK-NOT: llvm.inline_asm has_side_effects asm_dialect = att "",
    // CHECK: llvm.mlir.constant(49152 : i32)
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
    // CHECK: llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
    // CHECK: llvm.mlir.constant(81920 : i32)
    %r = tile.hold %v slot 2 : !values
    tile.release %pipe : !pipe
    %n = tile.map %p, %q, %r : !values, !values, !values -> !values {
    ^bb0(%d: f32, %e: f32, %f: f32):
      %g = arith.addf %d, %e : f32
      %h = arith.addf %g, %f : f32
      tile.yield %h : f32
    }
    // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    tile.put %n to %vy[%number, %number] : !values, !tile.view<f32>
  }
}
