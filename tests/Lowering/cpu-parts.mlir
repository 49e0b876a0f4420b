// cpu-parts.mlir - products of parts that differ in their bounds are one function
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-cpu | FileCheck %s

!a = !tile.block<8x32xf32>
!b = !tile.block<16x32xf32>
!sums = !tile.pending<8x16xf32>
!values = !tile.values<8x16xf32>

// What it packs is its own; its sums are the caller's.
// CHECK-LABEL: llvm.func internal @parts_part0(
// CHECK-SAME: i32, %[[TO:[^:]*]]: i32, %[[SUMS:[^:]*]]: !llvm.ptr {llvm.noalias}) attributes {no_inline}
// CHECK-COUNT-2: llvm.alloca
// CHECK: scf.for %{{.*}} to %[[TO]] step %{{.*}} iter_args(%{{.*}} = %[[SUMS]])
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @parts(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[NINE:.*]] = arith.constant 9 : i32
// CHECK: llvm.call @parts_part0({{.*}}, %[[ZERO]], %[[FOUR]], %{{.*}})
// CHECK-NOT: arith.addf
// CHECK: llvm.call @parts_part0({{.*}}, %[[FOUR]], %[[NINE]], %{{.*}})
// One that takes other columns is not the same code.
// CHECK-NOT: llvm.call
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[NINE]]
// CHECK-NOT: llvm.call
tile.func @parts(%x: !kernel.buffer<f32>, %sx: i64, %w: !kernel.buffer<f32>, %sw: i64, %y: !kernel.buffer<f32>, %sy: i64, %tokens: i64, %out: i64, %in: i64)
    slots ["x", "x:0", "w", "w:0", "y", "y:0", "tokens", "out", "in"]
    schedule <m = 8, n = 16, k = 32, stages = 1, consumers = 1, group = 1, copy = "own", producer_registers = 0, consumer_registers = 0, panel_rows = 4, panel_cols = 8, lanes = 8> {
  %vx = tile.view %x[%tokens, %in] stride %sx : !kernel.buffer<f32>, !tile.view<f32>
  %vw = tile.view %w[%out, %in] stride %sw : !kernel.buffer<f32>, !tile.view<f32>
  %vy = tile.view %y[%tokens, %out] stride %sy : !kernel.buffer<f32>, !tile.view<f32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %nine = arith.constant 9 : i32
  %0 = tile.begin "identity" : !sums
  %1 = scf.for %k = %zero to %four step %one iter_args(%s = %0) -> (!sums) : i32 {
    %length = arith.constant 32 : i32
    %at = arith.muli %k, %length : i32
    %a = tile.pack %vx[%zero, %at] : !tile.view<f32> -> !a
    %b = tile.pack %vw[%zero, %at] : !tile.view<f32> -> !b
    %next = tile.chain %a, %b on %s : !a, !b -> !sums {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      %product = arith.mulf %p, %q : f32
      %more = arith.addf %sum, %product : f32
      tile.yield %more : f32
    }
    scf.yield %next : !sums
  }
  %2 = tile.await %1 : !sums -> !values
  %3 = tile.hold %2 slot 0 : !values
  %4 = tile.begin "identity" : !sums
  %5 = scf.for %k = %four to %nine step %one iter_args(%s = %4) -> (!sums) : i32 {
    %length = arith.constant 32 : i32
    %at = arith.muli %k, %length : i32
    %a = tile.pack %vx[%zero, %at] : !tile.view<f32> -> !a
    %b = tile.pack %vw[%zero, %at] : !tile.view<f32> -> !b
    %next = tile.chain %a, %b on %s : !a, !b -> !sums {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      %product = arith.mulf %p, %q : f32
      %more = arith.addf %sum, %product : f32
      tile.yield %more : f32
    }
    scf.yield %next : !sums
  }
  %6 = tile.await %5 : !sums -> !values
  %7 = tile.hold %6 slot 1 : !values
  %8 = tile.begin "identity" : !sums
  %9 = scf.for %k = %zero to %nine step %one iter_args(%s = %8) -> (!sums) : i32 {
    %length = arith.constant 32 : i32
    %at = arith.muli %k, %length : i32
    %a = tile.pack %vx[%zero, %at] : !tile.view<f32> -> !a
    %b = tile.pack %vw[%four, %at] : !tile.view<f32> -> !b
    %next = tile.chain %a, %b on %s : !a, !b -> !sums {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      %product = arith.mulf %p, %q : f32
      %more = arith.addf %sum, %product : f32
      tile.yield %more : f32
    }
    scf.yield %next : !sums
  }
  %10 = tile.await %9 : !sums -> !values
  %11 = tile.map %3, %7, %10 : !values, !values, !values -> !values {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %pq = arith.addf %p, %q : f32
    %pqr = arith.addf %pq, %r : f32
    tile.yield %pqr : f32
  }
  tile.put %11 to %vy[%zero, %zero] : !values, !tile.view<f32>
}
