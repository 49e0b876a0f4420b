// tiles-errors.mlir - what the verifiers of tile kernels refuse
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{m is 0; it must be at least 1}}
module attributes {test.s = #tile.schedule<m = 0, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0>} {}

// -----

// expected-error @+1 {{stages is 1; it must be at least 2}}
module attributes {test.s = #tile.schedule<m = 64, n = 8, k = 64, stages = 1, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0>} {}

// -----

// expected-error @+1 {{m is 65; 2 consumers cannot share it evenly}}
module attributes {test.s = #tile.schedule<m = 65, n = 8, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0>} {}

// -----

// expected-error @+1 {{consumers is 3; a cluster of 2 cannot share them evenly}}
module attributes {test.s = #tile.schedule<m = 96, n = 8, k = 64, stages = 2, consumers = 3, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, cluster = 2>} {}

// -----

// expected-error @+1 {{split is 2 with copy 'plain'; units that copy in bulk share a block}}
module attributes {test.s = #tile.schedule<m = 64, n = 16, k = 64, stages = 2, consumers = 1, group = 1, copy = "plain", producer_registers = 0, consumer_registers = 0, split = 2>} {}

// -----

// expected-error @+1 {{split is 2 and cluster 2; units share a block in one way}}
module attributes {test.s = #tile.schedule<m = 64, n = 16, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, cluster = 2, split = 2>} {}

// -----

// expected-error @+1 {{n is 24; 16 units cannot share its columns evenly}}
module attributes {test.s = #tile.schedule<m = 64, n = 24, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 16>} {}

// -----

tile.func @f() slots [] schedule <m = 64, n = 16, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %s = tile.start : !tile.pending<64x16xf32>
    %v = tile.await %s : !tile.pending<64x16xf32> -> !tile.values<64x16xf32>
    // expected-error @+1 {{is for schedules with split}}
    %p:2 = tile.meet %v rows %number : !tile.values<64x16xf32> -> !tile.values<64x8xf32>, !tile.values<64x8xf32>
  }
}

// -----

tile.func @f() slots [] schedule <m = 64, n = 16, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 2> {
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %s = tile.start : !tile.pending<64x16xf32>
    %v = tile.await %s : !tile.pending<64x16xf32> -> !tile.values<64x16xf32>
    // expected-error @+1 {{of 1 values of 2 units gives 1}}
    %p = tile.meet %v rows %number : !tile.values<64x16xf32> -> !tile.values<64x8xf32>
  }
}

// -----

tile.func @f() slots [] schedule <m = 64, n = 16, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 2> {
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %s = tile.start : !tile.pending<64x16xf32>
    %v = tile.await %s : !tile.pending<64x16xf32> -> !tile.values<64x16xf32>
    // expected-error @+1 {{gives '!tile.values<64x16xf32>'; each of 2 units has its columns}}
    %p:2 = tile.meet %v rows %number : !tile.values<64x16xf32> -> !tile.values<64x16xf32>, !tile.values<64x8xf32>
  }
}

// -----

// expected-error @+1 {{copy is 'fast'; allowed are bulk, plain, async, registers and own}}
module attributes {test.s = #tile.schedule<m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "fast", producer_registers = 0, consumer_registers = 0>} {}

// -----

// expected-error @+1 {{has 3 extents; a block has rows and columns}}
func.func private @f(!tile.block<2x3x4xf32>)

// -----

// expected-error @+1 {{element type is 'i32'; it must be a float}}
func.func private @f(!tile.block<64x64xi32>)

// -----

// expected-error @+1 {{extents are 0 and 8; they must be positive}}
func.func private @f(!tile.values<0x8xf32>)

// -----

// expected-error @+1 {{has 1 stages; a producer that is ahead needs two}}
func.func private @f(!tile.pipe<1 of !tile.block<64x64xbf16>>)

// -----

// expected-error @+1 {{holds 'f32'; stages hold !tile.block}}
func.func private @f(!tile.pipe<2 of f32>)

// -----

// expected-error @+1 {{has 1 arguments but names 2 slots}}
tile.func @f(%n: i64) slots ["n", "m"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
}

// -----

// expected-error @+1 {{argument of type 'f32'; allowed are !kernel.buffer and i64}}
tile.func @f(%n: f32) slots ["n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
}

// -----

// expected-error @+1 {{has 2 tile.roles; one is allowed}}
tile.func @f(%n: i64) slots ["n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
  }
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  // expected-error @+1 {{of 'f32' in a buffer of 'bf16'}}
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<bf16>, !tile.view<f32>
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %one = arith.constant 1 : i64
  // expected-error @+1 {{is described by something other than arguments of the function}}
  %v = tile.view %x[%n, %n] stride %one : !kernel.buffer<bf16>, !tile.view<bf16>
}

// -----

tile.func @f(%n: i64) slots ["n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  // expected-error @+1 {{has consumers that do not take their number, i32}}
  tile.roles producer {
  } consumers {
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    // expected-error @+1 {{stands outside of the consumers}}
    %b = tile.wait %p : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
    // expected-error @+1 {{stands outside of the producer}}
    tile.commit %p : !tile.pipe<2 of !tile.block<64x64xbf16>>
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    // expected-error @+1 {{gives other blocks than stages of}}
    %b = tile.acquire %p : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x32xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<f16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<f16>, !tile.view<f16>
  %z = arith.constant 0 : i32
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    %b = tile.acquire %p : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
    // expected-error @+1 {{from a view of 'f16' to a block of 'bf16'}}
    tile.fetch %v[%z, %z] to %b : !tile.view<f16>, !tile.block<64x64xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "plain", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    %b = tile.acquire %p : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
    // expected-error @+1 {{of boxes, with copy "plain"; bulk copies have them}}
    tile.fetch %v[%z, %z] to %b boxes %z of %z : !tile.view<bf16>, !tile.block<64x64xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

func.func @f(%a: !tile.block<64x64xbf16>, %c: i32) {
  // expected-error @+1 {{parts have all columns and divide the rows}}
  %b = tile.rows %a part %c : !tile.block<64x64xbf16> -> !tile.block<48x64xbf16>
  return
}

// -----

func.func @f(%a: !tile.block<64x64xbf16>, %b: !tile.block<8x32xbf16>) {
  // expected-error @+1 {{they must have one element type and as many columns}}
  %d = tile.dot %a, %b atom "dot.nv(16,25)" : !tile.block<64x64xbf16>, !tile.block<8x32xbf16> -> !tile.pending<64x8xf32>
  return
}

// -----

func.func @f(%a: !tile.block<64x64xbf16>, %b: !tile.block<8x64xbf16>) {
  // expected-error @+1 {{of 64 and 8 rows gives}}
  %d = tile.dot %a, %b atom "dot.nv(16,25)" : !tile.block<64x64xbf16>, !tile.block<8x64xbf16> -> !tile.pending<64x16xf32>
  return
}

// -----

func.func @f(%a: !tile.block<64x64xbf16>, %b: !tile.block<8x64xbf16>, %s: !tile.pending<64x16xf32>) {
  // expected-error @+1 {{takes sums of type}}
  %d = tile.dot %a, %b on %s atom "dot.nv(16,25)" : !tile.block<64x64xbf16>, !tile.block<8x64xbf16> -> !tile.pending<64x8xf32> from !tile.pending<64x16xf32>
  return
}

// -----

func.func @f(%s: !tile.pending<64x8xf32>) {
  // expected-error @+1 {{behind is -1; it must not be negative}}
  %t = tile.settle %s behind -1 : !tile.pending<64x8xf32>
  return
}

// -----

func.func @f(%s: !tile.pending<64x8xf32>) {
  // expected-error @+1 {{gives}}
  %t = tile.await %s : !tile.pending<64x8xf32> -> !tile.values<64x8xbf16>
  return
}

// -----

func.func @f(%v: !tile.values<64x8xf32>) {
  // expected-error @+1 {{gives '!tile.values<64x16xf32>'}}
  %t = tile.map %v : !tile.values<64x8xf32> -> !tile.values<64x16xf32> {
  ^bb0(%e: f32):
    tile.yield %e : f32
  }
  return
}

// -----

func.func @f(%v: !tile.values<64x8xf32>) {
  // expected-error @+1 {{has elements of type 'f64'}}
  %t = tile.map %v : !tile.values<64x8xf32> -> !tile.values<64x8xf32> {
  ^bb0(%e: f64):
    %c = arith.constant 0.0 : f32
    tile.yield %c : f32
  }
  return
}

// -----

func.func @f(%v: !tile.values<64x8xf32>) {
  // expected-error @+1 {{does not yield an element of}}
  %t = tile.map %v : !tile.values<64x8xf32> -> !tile.values<64x8xbf16> {
  ^bb0(%e: f32):
    tile.yield %e : f32
  }
  return
}

// -----

func.func @f(%v: !tile.values<64x8xf32>) {
  // expected-error @+1 {{has 1 operands and 2 elements; there is one element an operand}}
  %t = tile.map %v : !tile.values<64x8xf32> -> !tile.values<64x8xf32> {
  ^bb0(%e: f32, %g: f32):
    tile.yield %e : f32
  }
  return
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  // expected-error @+1 {{has a stride or is along a dim, one of them}}
  %v = tile.view %x[%n, %n] : !kernel.buffer<bf16>, !tile.view<bf16>
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  // expected-error @+1 {{has a stride or is along a dim, one of them}}
  %v = tile.view %x[%n, %n] stride %s along "cols" : !kernel.buffer<bf16>, !tile.view<bf16>
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  // expected-error @+1 {{is along "depth"; allowed are "rows" and "cols"}}
  %v = tile.view %x[%n, %n] along "depth" : !kernel.buffer<bf16>, !tile.view<bf16>
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] along "cols" : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    %b = tile.acquire %p : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
    // expected-error @+1 {{from a vector; blocks hold matrices}}
    tile.fetch %v[%z, %z] to %b : !tile.view<bf16>, !tile.block<64x64xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] along "cols" : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
    %e = tile.load %v[%z, %z] : !tile.view<bf16> -> !tile.values<64x8xbf16>
    // expected-error @+1 {{to a vector, in which several elements meet}}
    tile.put %e to %v[%z, %z] : !tile.values<64x8xbf16>, !tile.view<bf16>
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
    // expected-error @+1 {{from a view of 'bf16' to values of 'f32'}}
    %e = tile.load %v[%z, %z] : !tile.view<bf16> -> !tile.values<64x8xf32>
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  tile.roles producer {
    // expected-error @+1 {{stands outside of the consumers}}
    %e = tile.load %v[%z, %z] : !tile.view<bf16> -> !tile.values<64x8xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %n: i64) slots ["x", "n"] schedule <m = 64, n = 64, k = 64, stages = 2, consumers = 1, group = 1, copy = "async", producer_registers = 0, consumer_registers = 0> {
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  // expected-error @+1 {{has a producer; with copy "async" consumers copy}}
  tile.roles producer {
    %zero = arith.constant 0 : i32
  } consumers {
  ^bb0(%number: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %n: i64) slots ["x", "n"] schedule <m = 64, n = 64, k = 64, stages = 2, consumers = 1, group = 1, copy = "async", producer_registers = 0, consumer_registers = 0> {
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    // expected-error @+1 {{ahead is -1; it must not be negative}}
    %a = tile.wait %p ahead -1 : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
    %e = tile.load %v[%z, %z] : !tile.view<bf16> -> !tile.values<64x8xbf16>
    // expected-error @+1 {{slot is -1; it must not be negative}}
    %h = tile.hold %e slot -1 : !tile.values<64x8xbf16>
  }
}

// -----

tile.func @f(%n: i64) slots ["n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "plain", producer_registers = 0, consumer_registers = 0> {
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    %i = arith.constant 0 : i32
    // expected-error @+1 {{is for schedules whose copy is bulk}}
    %b = tile.early %p stage %i : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%n: i64) slots ["n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
    // expected-error @+1 {{stands outside of the producer}}
    tile.ready
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %n: i64) slots ["x", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "plain", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %n : !kernel.buffer<bf16>, !tile.view<bf16>
  tile.roles producer {
    %i = arith.constant 0 : i32
    // expected-error @+1 {{with copy "plain"; producers that copy in bulk have it}}
    tile.prefetch %v[%i, %i] rows %i cols 64 : !tile.view<bf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %n: i64) slots ["x", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %n : !kernel.buffer<bf16>, !tile.view<bf16>
  tile.roles producer {
    %i = arith.constant 0 : i32
    // expected-error @+1 {{of 0 columns; there must be one at least}}
    tile.prefetch %v[%i, %i] rows %i cols 0 : !tile.view<bf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %n: i64) slots ["x", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %n : !kernel.buffer<bf16>, !tile.view<bf16>
  tile.roles producer {
  } consumers {
  ^bb0(%c: i32):
    // expected-error @+1 {{stands outside of the producer}}
    tile.prefetch %v[%c, %c] rows %c cols 64 : !tile.view<bf16>
  }
}

// -----

tile.func @f(%o: !kernel.buffer<bf16>) slots ["offsets"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %z = arith.constant 0 : i32
  // expected-error @+1 {{of a buffer of 'bf16'; it is of i32}}
  %e = tile.offset %o[%z] : !kernel.buffer<bf16>
}

// -----

tile.func @f(%o: !kernel.buffer<f32>) slots ["@fault"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %z = arith.constant true
  // expected-error @+1 {{of a buffer of 'f32'; it is of i32}}
  tile.fault %o mask %z : !kernel.buffer<f32>
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %n: i64) slots ["x", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  // expected-error @+1 {{is a stack of vectors; it is of matrices}}
  %v = tile.view %x[%n, %n] stack %n apart %n along "cols" : !kernel.buffer<bf16>, !tile.view<bf16>
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %t: i64, %n: i64) slots ["x", "x:0", "x:1", "n"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %v = tile.view %x[%n, %n] stride %t stack %n apart %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  %p = tile.pipe : !tile.pipe<2 of !tile.block<64x64xbf16>>
  tile.roles producer {
    %b = tile.acquire %p : !tile.pipe<2 of !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>
    // expected-error @+1 {{of a stack, and of none of its matrices}}
    tile.fetch %v[%z, %z] to %b : !tile.view<bf16>, !tile.block<64x64xbf16>
  } consumers {
  ^bb0(%c: i32):
  }
}

// -----

tile.func @f(%x: !kernel.buffer<bf16>, %s: i64, %n: i64) slots ["x", "x:0", "n"] schedule <m = 64, n = 8, k = 64, stages = 1, consumers = 1, group = 1, copy = "own", producer_registers = 0, consumer_registers = 0, panel_rows = 2, panel_cols = 8, lanes = 4> {
  %v = tile.view %x[%n, %n] stride %s : !kernel.buffer<bf16>, !tile.view<bf16>
  %z = arith.constant 0 : i32
  // expected-error @+1 {{of a matrix of a view that is no stack}}
  %b = tile.pack %v[%z, %z] matrix %z : !tile.view<bf16> -> !tile.block<64x64xbf16>
}

// -----

// expected-error @+1 {{attribute 'sym_name' failed to satisfy constraint: string attribute that is not empty}}
tile.func @""(%x: !kernel.buffer<bf16>) slots ["x"] schedule <m = 64, n = 8, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
}
