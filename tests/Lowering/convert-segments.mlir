// convert-segments.mlir - rows that are cut at offsets, to NVVM
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm | FileCheck %s

!a = !tile.block<128x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
!sums = !tile.pending<64x64xf32>

// CHECK-LABEL: llvm.func @segments(
// CHECK-SAME: %[[OFFSETS:[^:]*]]: !llvm.ptr<1> {llvm.noalias}, %[[TOKENS:[^:]*]]: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %[[FAULT:[^:]*]]: !llvm.ptr<1> {llvm.noalias}
tile.func @segments(%x: !kernel.buffer<bf16>, %sx: i64, %w: !kernel.buffer<bf16>, %sw0: i64, %sw1: i64, %y: !kernel.buffer<bf16>, %sy: i64, %offsets: !kernel.buffer<i32>, %tokens: i64, %experts: i64, %out: i64, %in: i64, %fault: !kernel.buffer<i32>)
    slots ["x", "x:0", "w", "w:0", "w:1", "y", "y:0", "offsets", "tokens", "experts", "out", "in", "@fault"]
    schedule <m = 128, n = 64, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<bf16>, !tile.view<bf16>
  %vw = tile.view %w[%out, %in] stride %sw1 stack %experts apart %sw0 : !kernel.buffer<bf16>, !tile.view<bf16>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<bf16>, !tile.view<bf16>
  %pipe = tile.pipe : !pipe
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i32
  // Nothing of a tensor is read before what was before has ended.
  // CHECK: nvvm.griddepcontrol wait
  // CHECK: %[[AT:.*]] = llvm.getelementptr %[[OFFSETS]][%{{.*}}] {{.*}}, i32
  // CHECK: %[[END:.*]] = llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %end = tile.offset %offsets[%zero] : !kernel.buffer<i32>
  // CHECK: %[[BAD:.*]] = arith.cmpi slt, %[[END]]
  %bad = arith.cmpi slt, %end, %zero : i32
  // The caller may have given no word.
  // CHECK: %[[GIVEN:.*]] = llvm.icmp "ne" %[[FAULT]], %{{.*}} : !llvm.ptr<1>
  // CHECK: %[[SAYS:.*]] = llvm.and %[[BAD]], %[[GIVEN]]
  // CHECK: scf.if %[[SAYS]] {
  // CHECK: llvm.store %{{.*}}, %[[FAULT]] {alignment = 4 : i64} : i32
  tile.fault %fault mask %bad : !kernel.buffer<i32>
  tile.roles producer {
    %a, %b = tile.acquire %pipe : !pipe -> !a, !b
    tile.fetch %vx[%end, %zero] to %a : !tile.view<bf16>, !a
    // A box of a matrix: of three coordinates the last is its number.
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}]
    tile.fetch %vw[%zero, %zero] matrix %seven to %b : !tile.view<bf16>, !b
    tile.commit %pipe : !pipe
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %rows = tile.rows %a part %number : !a -> !own
    %sums = tile.dot %rows, %b atom "dot.nv(16,25)" : !own, !b -> !sums
    // Where there is no matrix all sums are NaN.
    // CHECK: llvm.mlir.constant(dense<0x7FC00000> : vector<2xf32>) : vector<2xf32>
    // CHECK-COUNT-16: llvm.select %[[BAD]], %{{.*}}, %{{.*}} : i1, vector<2xf32>
    %values = tile.await %sums where %bad : !sums -> !tile.values<64x64xf32>
    tile.release %pipe : !pipe
    %narrow = tile.map %values : !tile.values<64x64xf32> -> !tile.values<64x64xbf16> {
    ^bb0(%e: f32):
      %r = kernel.narrow %e : f32 to bf16
      tile.yield %r : bf16
    }
    // The copy unit takes what ends with the block; else every row is asked for.
    // CHECK: %[[WHOLE:.*]] = llvm.icmp "slt" %{{.*}}, %[[END]] : i32
    // CHECK: scf.if %[[WHOLE]] {
    // CHECK: nvvm.stmatrix
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
    // CHECK: } else {
    // CHECK-NOT: nvvm.cp.async.bulk.tensor.global.shared.cta
    // CHECK: %[[MOST:.*]] = llvm.sext %[[END]] : i32 to i64
    // CHECK: llvm.intr.smin(%[[TOKENS]], %[[MOST]])
    // CHECK: llvm.store
    tile.put %narrow to %vy[%zero, %zero] rows %end : !tile.values<64x64xbf16>, !tile.view<bf16>
  }
}
