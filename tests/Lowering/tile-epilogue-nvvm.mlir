// tile-epilogue-nvvm.mlir - elements of views in registers, and results staged
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm | FileCheck %s

// 64 rows and 64 columns over 128 threads are 16 pairs for each.
// CHECK-LABEL: llvm.func @epilogue
tile.func @epilogue(%r: !kernel.buffer<bf16>, %s: i64, %b: !kernel.buffer<f32>, %y: !kernel.buffer<bf16>, %t: i64, %rows: i64, %cols: i64)
    slots ["r", "r:0", "b", "y", "y:0", "rows", "cols"]
    schedule <m = 128, n = 64, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %zero = arith.constant 0 : i32
  %residual = tile.view %r[%rows, %cols] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %bias = tile.view %b[%rows, %cols] along "cols" : !kernel.buffer<f32>, !tile.view<f32>
  %to = tile.view %y[%rows, %cols] stride %t : !kernel.buffer<bf16>, !tile.view<bf16>
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    // Two operands share the room: portions of 8 pairs. Both halves of a pair's
    // column have one bias.
    // CHECK: %[[R:.*]]:8 = scf.if %[[WHOLE:.*]] -> (vector<2xbf16>,
    // CHECK-COUNT-2: nvvm.prefetch level = L2
    // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xbf16>
    // CHECK: scf.yield
    // CHECK: } else {
    // An element that is not there is zero, and the first of the tensor is read.
    // CHECK: llvm.select %{{.*}}, %{{.*}}, %arg0 : i1, !llvm.ptr<1>
    // CHECK-NEXT: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
    %e = tile.load %residual[%zero, %zero] : !tile.view<bf16> -> !tile.values<64x64xbf16>
    // CHECK: %[[B:.*]]:4 = scf.if %{{.*}} -> (vector<2xf32>,
    // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
    %f = tile.load %bias[%zero, %zero] : !tile.view<f32> -> !tile.values<64x64xf32>
    // The second portion is on its way before the first is used.
    // CHECK: nvvm.barrier
    // CHECK: %[[R2:.*]]:8 = scf.if %[[WHOLE]] -> (vector<2xbf16>,
    // CHECK: %[[B2:.*]]:4 = scf.if
    // CHECK: %[[W:.*]] = arith.extf %[[R]]#0 : vector<2xbf16> to vector<2xf32>
    // CHECK: arith.addf %[[W]], %[[B]]#0 : vector<2xf32>
    // CHECK: %[[W1:.*]] = arith.extf %[[R]]#1 : vector<2xbf16> to vector<2xf32>
    // CHECK: arith.addf %[[W1]], %[[B]]#0 : vector<2xf32>
    // CHECK: nvvm.stmatrix
    // CHECK: nvvm.stmatrix
    // CHECK: %[[W8:.*]] = arith.extf %[[R2]]#0
    // CHECK: arith.addf %[[W8]], %[[B2]]#0
    %g = tile.map %e, %f : !tile.values<64x64xbf16>, !tile.values<64x64xf32> -> !tile.values<64x64xbf16> {
    ^bb0(%p: bf16, %q: f32):
      %w = arith.extf %p : bf16 to f32
      %sum = arith.addf %w, %q : f32
      %n = kernel.narrow %sum : f32 to bf16
      tile.yield %n : bf16
    }
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
    tile.put %g to %to[%zero, %zero] : !tile.values<64x64xbf16>, !tile.view<bf16>
  }
}
