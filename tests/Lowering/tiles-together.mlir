// tiles-together.mlir - products of one block to one instruction of NVVM
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm | FileCheck %s

!a = !tile.block<16x128xbf16>
!b = !tile.block<16x128xbf16>
!pipe = !tile.pipe<2 of !a, !b, !b>
!sums = !tile.pending<16x16xf32>
!values = !tile.values<16x16xf32>

// Panels of `g` and `u` lie side by side: one block of 32 rows to the unit.
// CHECK-LABEL: llvm.func @gated(
tile.func @gated(%x: !kernel.buffer<bf16>, %sx: i64, %g: !kernel.buffer<bf16>, %sg: i64, %u: !kernel.buffer<bf16>, %su: i64, %y: !kernel.buffer<bf16>, %sy: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "g", "g:0", "u", "u:0", "y", "y:0", "tokens", "out", "in"]
    schedule <m = 16, n = 16, k = 128, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vg = tile.view %g[%out, %in] stride %sg : !kernel.buffer<bf16>, !tile.view<bf16>
  %vu = tile.view %u[%out, %in] stride %su : !kernel.buffer<bf16>, !tile.view<bf16>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  %zero = arith.constant 0 : i32
  tile.roles producer {
    %a, %b, %c = tile.acquire %pipe : !pipe -> !a, !b, !b
    // A stage of x has 4096 bytes, 8192 in all; one of both weights has 8192.
    // `g` begins at 8192, `u` after a panel of 16 rows.
    // CHECK: llvm.mlir.constant(8192 : i32)
    // CHECK: llvm.mlir.constant(8192 : i32)
    // CHECK: llvm.mlir.constant(8192 : i32)
    // CHECK: llvm.mlir.constant(10240 : i32)
    tile.fetch %vx[%zero, %zero] to %a : !tile.view<bf16>, !a
    tile.fetch %vg[%zero, %zero] to %b : !tile.view<bf16>, !b
    tile.fetch %vu[%zero, %zero] to %c : !tile.view<bf16>, !b
    tile.commit %pipe : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b, %c = tile.wait %pipe : !pipe -> !a, !b, !b
    // From one panel to the next 32 rows of weights, counted in 16 bytes.
    // CHECK: %[[A:.*]] = llvm.or
    // CHECK: %[[B:.*]] = llvm.or
    // CHECK: %[[NEXT:.*]] = llvm.mlir.constant(256 : i64)
    // CHECK: llvm.add %[[B]], %[[NEXT]]
    // CHECK: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
    // CHECK-NOT: m64n16k16
    %s = tile.dot %a, %b atom "dot.nv(16,25)" : !a, !b -> !sums
    %t = tile.dot %a, %c atom "dot.nv(16,25)" : !a, !b -> !sums
    // Two products are one group.
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
    %r = tile.settle %s behind 2 : !sums
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
    %q = tile.settle %t behind 3 : !sums
    %v = tile.await %r : !sums -> !values
    %w = tile.await %q : !sums -> !values
    tile.release %pipe : !pipe
    %n = tile.map %v, %w : !values, !values -> !tile.values<16x16xbf16> {
    ^bb0(%e: f32, %f: f32):
      %m = arith.mulf %e, %f : f32
      %o = kernel.narrow %m : f32 to bf16
      tile.yield %o : bf16
    }
    tile.put %n to %vy[%zero, %zero] : !tile.values<16x16xbf16>, !tile.view<bf16>
  }
}
