// tiles.mlir - the syntax of tile kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s | bitpact-opt | FileCheck %s
// RUN: bitpact-opt %s --mlir-print-op-generic | bitpact-opt | FileCheck %s

!a = !tile.block<128x64xbf16>
!b = !tile.block<256x64xbf16>
!own = !tile.block<64x64xbf16>
!pipe = !tile.pipe<4 of !a, !b>
!sums = !tile.pending<64x256xf32>

// CHECK-LABEL: tile.func @product
// CHECK-SAME: slots ["x", "x:0", "y", "tokens", "in"]
// CHECK-SAME: schedule <m = 128, n = 256, k = 64, stages = 4, consumers = 2, group = 8, copy = "bulk", producer_registers = 40, consumer_registers = 232>
tile.func @product(%x: !kernel.buffer<bf16>, %s: i64, %y: !kernel.buffer<bf16>, %tokens: i64, %in: i64)
    slots ["x", "x:0", "y", "tokens", "in"]
    schedule <m = 128, n = 256, k = 64, stages = 4, consumers = 2, group = 8, copy = "bulk", producer_registers = 40, consumer_registers = 232> {
  %zero = arith.constant 0 : i32
  // CHECK: tile.view %{{.*}}[%{{.*}}, %{{.*}}] stride %{{.*}} : !kernel.buffer<bf16>, !tile.view<bf16>
  %from = tile.view %x[%tokens, %in] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %to = tile.view %y[%tokens, %in] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  // CHECK: %[[COLUMN:.*]] = tile.view %{{.*}}[%{{.*}}, %{{.*}}] along "cols" : !kernel.buffer<bf16>, !tile.view<bf16>
  %column = tile.view %x[%tokens, %in] along "cols" : !kernel.buffer<bf16>, !tile.view<bf16>
  // CHECK: tile.pipe : !tile.pipe<4 of !tile.block<128x64xbf16>, !tile.block<256x64xbf16>>
  %pipe = tile.pipe : !pipe
  // CHECK: tile.roles producer {
  tile.roles producer {
    // CHECK: tile.program
    // CHECK: tile.programs
    %p = tile.program
    %n = tile.programs
    // CHECK: tile.acquire {{.*}} -> !tile.block<128x64xbf16>, !tile.block<256x64xbf16>
    %stage:2 = tile.acquire %pipe : !pipe -> !a, !b
    // CHECK: tile.fetch %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view<bf16>, !tile.block<128x64xbf16>
    tile.fetch %from[%p, %zero] to %stage#0 : !tile.view<bf16>, !a
    tile.fetch %from[%n, %zero] to %stage#1 : !tile.view<bf16>, !b
    // CHECK: tile.commit %{{.*}} : !tile.pipe
    tile.commit %pipe : !pipe
    %next:2 = tile.acquire %pipe : !pipe -> !a, !b
    // CHECK: tile.fetch %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} boxes %{{.*}} of %{{.*}} : !tile.view<bf16>, !tile.block<128x64xbf16>
    tile.fetch %from[%p, %zero] to %next#0 boxes %p of %n : !tile.view<bf16>, !a
    // CHECK: tile.fetch %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} once %{{.*}} : !tile.view<bf16>
    %alone = arith.constant true
    tile.fetch %from[%n, %zero] to %next#1 once %alone : !tile.view<bf16>, !b
    // CHECK: tile.prefetch %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} cols 512 : !tile.view<bf16>
    tile.prefetch %from[%n, %zero] rows %p cols 512 : !tile.view<bf16>
    // CHECK: tile.commit %{{.*}} bytes %{{.*}} : !tile.pipe
    tile.commit %pipe bytes %n : !pipe
  // CHECK: } consumers {
  } consumers {
  ^bb0(%number: i32):
    // CHECK: tile.wait
    %stage:2 = tile.wait %pipe : !pipe -> !a, !b
    // CHECK: tile.rows %{{.*}} part %{{.*}} : !tile.block<128x64xbf16> -> !tile.block<64x64xbf16>
    %rows = tile.rows %stage#0 part %number : !a -> !own
    // CHECK: %[[FIRST:.*]] = tile.dot %{{.*}}, %{{.*}} atom "dot.nv(16,25)" : !tile.block<64x64xbf16>, !tile.block<256x64xbf16> -> !tile.pending<64x256xf32>
    %first = tile.dot %rows, %stage#1 atom "dot.nv(16,25)" : !own, !b -> !sums
    // CHECK: tile.dot %{{.*}}, %{{.*}} on %[[FIRST]] atom "dot.nv(16,25)"
    %second = tile.dot %rows, %stage#1 on %first atom "dot.nv(16,25)" : !own, !b -> !sums from !sums
    // CHECK: tile.settle %{{.*}} behind 1 : !tile.pending<64x256xf32>
    %settled = tile.settle %second behind 1 : !sums
    // CHECK: tile.release
    tile.release %pipe : !pipe
    // CHECK: tile.await %{{.*}} : !tile.pending<64x256xf32> -> !tile.values<64x256xf32>
    %values = tile.await %settled : !sums -> !tile.values<64x256xf32>
    // CHECK: tile.load %[[COLUMN]][%{{.*}}, %{{.*}}] : !tile.view<bf16> -> !tile.values<64x256xbf16>
    %bias = tile.load %column[%zero, %zero] : !tile.view<bf16> -> !tile.values<64x256xbf16>
    // CHECK: tile.map %{{.*}} : !tile.values<64x256xf32> -> !tile.values<64x256xbf16> {
    %narrow = tile.map %values : !tile.values<64x256xf32> -> !tile.values<64x256xbf16> {
    ^bb0(%e: f32):
      %r = kernel.narrow %e : f32 to bf16
      // CHECK: tile.yield %{{.*}} : bf16
      tile.yield %r : bf16
    }
    // CHECK: tile.put %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : !tile.values<64x256xbf16>, !tile.view<bf16>
    tile.put %narrow to %to[%zero, %zero] : !tile.values<64x256xbf16>, !tile.view<bf16>
  }
}

// Consumers that copy.
// CHECK-LABEL: tile.func @shared
tile.func @shared(%x: !kernel.buffer<f32>, %stride: i64, %rows: i64, %cols: i64)
    slots ["x", "x:0", "rows", "cols"]
    schedule <m = 8, n = 8, k = 16, stages = 3, consumers = 1, group = 1, copy = "async",
              producer_registers = 0, consumer_registers = 0> {
  %from = tile.view %x[%rows, %cols] stride %stride : !kernel.buffer<f32>, !tile.view<f32>
  %pipe = tile.pipe : !tile.pipe<3 of !tile.block<8x16xf32>>
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %stage = tile.acquire %pipe : !tile.pipe<3 of !tile.block<8x16xf32>> -> !tile.block<8x16xf32>
    // CHECK: tile.fetch %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} negative :
    tile.fetch %from[%number, %number] to %stage negative : !tile.view<f32>, !tile.block<8x16xf32>
    tile.commit %pipe : !tile.pipe<3 of !tile.block<8x16xf32>>
    // CHECK: %[[START:.*]] = tile.start : !tile.pending<8x8xf32>
    %start = tile.start : !tile.pending<8x8xf32>
    // CHECK: tile.wait %{{.*}} ahead 1 :
    %ready = tile.wait %pipe ahead 1 : !tile.pipe<3 of !tile.block<8x16xf32>> -> !tile.block<8x16xf32>
    // CHECK: tile.dot %{{.*}}, %{{.*}} on %[[START]] first %{{.*}} atom "dot.fma.f32"
    %sums = tile.dot %ready, %ready on %start first %number atom "dot.fma.f32"
      : !tile.block<8x16xf32>, !tile.block<8x16xf32> -> !tile.pending<8x8xf32> from !tile.pending<8x8xf32>
  }
}

// A program without roles.
// CHECK-LABEL: tile.func @alone
// CHECK-SAME: copy = "own", producer_registers = 0, consumer_registers = 0, panel_rows = 2, panel_cols = 8, lanes = 4
tile.func @alone(%x: !kernel.buffer<bf16>, %x0: i64, %y: !kernel.buffer<f32>,
                 %y0: i64, %rows: i64, %cols: i64)
    slots ["x", "x:0", "y", "y:0", "rows", "cols"]
    schedule <m = 4, n = 8, k = 16, stages = 1, consumers = 1, group = 1,
              copy = "own", producer_registers = 0, consumer_registers = 0,
              panel_rows = 2, panel_cols = 8, lanes = 4> {
  %v = tile.view %x[%rows, %cols] stride %x0
    : !kernel.buffer<bf16>, !tile.view<bf16>
  %w = tile.view %y[%rows, %rows] stride %y0
    : !kernel.buffer<f32>, !tile.view<f32>
  %zero = arith.constant 0 : i32
  // CHECK: tile.pack %{{.*}}[%{{.*}}, %{{.*}}] : !tile.view<bf16> -> !tile.block<4x16xf32>
  %a = tile.pack %v[%zero, %zero] : !tile.view<bf16> -> !tile.block<4x16xf32>
  %b = tile.pack %v[%zero, %zero] : !tile.view<bf16> -> !tile.block<8x16xf32>
  // CHECK: tile.begin "identity" : !tile.pending<4x8xf32>
  %s = tile.begin "identity" : !tile.pending<4x8xf32>
  // CHECK: tile.chain %{{.*}}, %{{.*}} on %{{.*}} : !tile.block<4x16xf32>, !tile.block<8x16xf32> -> !tile.pending<4x8xf32>
  %t = tile.chain %a, %b on %s : !tile.block<4x16xf32>, !tile.block<8x16xf32>
      -> !tile.pending<4x8xf32> {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %n = kernel.fma %l, %r, %sum : f32
    tile.yield %n : f32
  }
  %u = tile.await %t : !tile.pending<4x8xf32> -> !tile.values<4x8xf32>
  // CHECK: %[[HELD:.*]] = tile.hold %{{.*}} slot 1 : !tile.values<4x8xf32>
  // CHECK: tile.put %[[HELD]]
  %h = tile.hold %u slot 1 : !tile.values<4x8xf32>
  tile.put %h to %w[%zero, %zero] : !tile.values<4x8xf32>, !tile.view<f32>
}

// Rows that are cut at offsets, of which each takes one matrix of a stack.
// CHECK-LABEL: tile.func @segments
tile.func @segments(%x: !kernel.buffer<bf16>, %x0: i64, %w: !kernel.buffer<bf16>,
                    %w0: i64, %w1: i64, %offsets: !kernel.buffer<i32>,
                    %rows: i64, %count: i64, %cols: i64, %fault: !kernel.buffer<i32>)
    slots ["x", "x:0", "w", "w:0", "w:1", "offsets", "rows", "count", "cols", "@fault"]
    schedule <m = 4, n = 8, k = 16, stages = 1, consumers = 1, group = 1,
              copy = "own", producer_registers = 0, consumer_registers = 0,
              panel_rows = 2, panel_cols = 8, lanes = 4> {
  %v = tile.view %x[%rows, %cols] stride %x0
    : !kernel.buffer<bf16>, !tile.view<bf16>
  // CHECK: %[[STACK:.*]] = tile.view %{{.*}}[%{{.*}}, %{{.*}}] stride %{{.*}} stack %{{.*}} apart %{{.*}} : !kernel.buffer<bf16>, !tile.view<bf16>
  %s = tile.view %w[%rows, %cols] stride %w1 stack %count apart %w0
    : !kernel.buffer<bf16>, !tile.view<bf16>
  %zero = arith.constant 0 : i32
  // CHECK: %[[END:.*]] = tile.offset %{{.*}}[%{{.*}}] : !kernel.buffer<i32>
  %end = tile.offset %offsets[%zero] : !kernel.buffer<i32>
  %bad = arith.cmpi slt, %end, %zero : i32
  // CHECK: tile.fault %{{.*}} mask %[[BAD:.*]] : !kernel.buffer<i32>
  tile.fault %fault mask %bad : !kernel.buffer<i32>
  // CHECK: tile.pack %{{.*}}[%{{.*}}, %{{.*}}] rows %[[END]] : !tile.view<bf16> -> !tile.block<4x16xbf16>
  %a = tile.pack %v[%zero, %zero] rows %end : !tile.view<bf16> -> !tile.block<4x16xbf16>
  // CHECK: tile.pack %[[STACK]][%{{.*}}, %{{.*}}] matrix %{{.*}} : !tile.view<bf16> -> !tile.block<8x16xbf16>
  %b = tile.pack %s[%zero, %zero] matrix %zero : !tile.view<bf16> -> !tile.block<8x16xbf16>
  %sums = tile.begin "identity" : !tile.pending<4x8xf32>
  %dot = tile.dot %a, %b on %sums atom "dot.nv(16,25)"
    : !tile.block<4x16xbf16>, !tile.block<8x16xbf16> -> !tile.pending<4x8xf32> from !tile.pending<4x8xf32>
  // CHECK: tile.await %{{.*}} where %[[BAD]] : !tile.pending<4x8xf32> -> !tile.values<4x8xf32>
  %u = tile.await %dot where %bad : !tile.pending<4x8xf32> -> !tile.values<4x8xf32>
  %narrow = tile.map %u : !tile.values<4x8xf32> -> !tile.values<4x8xbf16> {
  ^bb0(%e: f32):
    %r = kernel.narrow %e : f32 to bf16
    tile.yield %r : bf16
  }
  // CHECK: tile.put %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] rows %[[END]] : !tile.values<4x8xbf16>, !tile.view<bf16>
  tile.put %narrow to %v[%zero, %zero] rows %end : !tile.values<4x8xbf16>, !tile.view<bf16>
}

// Two units that share a block.
// CHECK-LABEL: tile.func @units
// CHECK-SAME: held = 1, split = 2>
tile.func @units(%x: !kernel.buffer<bf16>, %x0: i64, %y: !kernel.buffer<f32>, %y0: i64,
                 %rows: i64, %cols: i64)
    slots ["x", "x:0", "y", "y:0", "rows", "cols"]
    schedule <m = 8, n = 16, k = 16, stages = 2, consumers = 1, group = 1,
              copy = "bulk", producer_registers = 0, consumer_registers = 0,
              held = 1, split = 2> {
  %w = tile.view %y[%rows, %cols] stride %y0
    : !kernel.buffer<f32>, !tile.view<f32>
  // CHECK: %[[UNIT:.*]] = tile.unit
  %unit = tile.unit
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %s = tile.start : !tile.pending<8x16xf32>
    %v = tile.await %s : !tile.pending<8x16xf32> -> !tile.values<8x16xf32>
    // CHECK: %[[ALL:.*]]:2 = tile.meet %{{.*}} rows %[[UNIT]] : !tile.values<8x16xf32> -> !tile.values<8x8xf32>, !tile.values<8x8xf32>
    // CHECK: tile.put %[[ALL]]#1
    %all:2 = tile.meet %v rows %unit : !tile.values<8x16xf32> -> !tile.values<8x8xf32>, !tile.values<8x8xf32>
    tile.put %all#1 to %w[%number, %number] : !tile.values<8x8xf32>, !tile.view<f32>
  }
}
