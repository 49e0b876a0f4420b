// easy-quotients.mlir - divisions of indices that most launches need not make
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm | FileCheck %s

!a = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>

// CHECK-LABEL: llvm.func @quotients(
tile.func @quotients(%x: !kernel.buffer<bf16>, %sx: i64, %w: !kernel.buffer<bf16>, %sw: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "w", "w:0", "tokens", "out", "in"]
    schedule <m = 64, n = 64, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vw = tile.view %w[%out, %in] stride %sw : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  tile.roles producer {
    // CHECK: %[[I:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: %[[N:.*]] = nvvm.read.ptx.sreg.nctaid.x
    %i = tile.program
    %n = tile.programs
    %zero = arith.constant 0 : i32
    %eight = arith.constant 8 : i32
    // By one, or by more than the dividend.
    // CHECK: %[[BYONE:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : i32
    // CHECK: %[[ISZERO:.*]] = arith.cmpi ult, %[[I]], %[[N]] : i32
    // CHECK: %[[EASY:.*]] = arith.ori %[[BYONE]], %[[ISZERO]] : i1
    // CHECK: %[[Q:.*]] = scf.if %[[EASY]] -> (i32) {
    // CHECK: %[[SIMPLE:.*]] = arith.select %[[BYONE]], %[[I]], %{{.*}} : i32
    // CHECK: scf.yield %[[SIMPLE]]
    // CHECK: } else {
    // CHECK: %[[HARD:.*]] = arith.divui %[[I]], %[[N]] : i32
    // CHECK: scf.yield %[[HARD]]
    %row = arith.divui %i, %n : i32
    // By a constant it costs little.
    // CHECK-NOT: scf.if
    // CHECK: arith.divui %[[Q]], %{{.*}} : i32
    %col = arith.divui %row, %eight : i32
    %a, %b = tile.acquire %pipe : !pipe -> !a, !b
    tile.fetch %vx[%row, %zero] to %a : !tile.view<bf16>, !a
    tile.fetch %vw[%col, %zero] to %b : !tile.view<bf16>, !b
    tile.commit %pipe : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    tile.release %pipe : !pipe
  }
}
