// convert-tiles-errors.mlir - tile schedules that sm_90a cannot run
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --convert-kernel-to-nvvm --verify-diagnostics --split-input-file

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<128x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{split is 16; sm_90a has clusters of powers of two up to 8}}
tile.func @f() slots [] schedule <m = 64, n = 128, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 16> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x128xf32>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<96x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{split is 3; sm_90a has clusters of powers of two up to 8}}
tile.func @f() slots [] schedule <m = 64, n = 96, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 3> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x96xf32>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<32x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{n is 32; of it 8 units have 4 columns each, not multiples of 8}}
tile.func @f() slots [] schedule <m = 64, n = 32, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 8> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x32xf32>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{split is 8 and units meet in 0 places; sm_90a has barriers for one}}
tile.func @f() slots [] schedule <m = 64, n = 64, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, split = 8> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
  }
}

// -----

!a = !tile.block<128x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{roles want 76800 registers; 384 threads begin with 64512}}
tile.func @f() slots [] schedule <m = 128, n = 64, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 136, consumer_registers = 232> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
  }
}

// -----

!a = !tile.block<192x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{roles want 73728 registers; 512 threads begin with 65536}}
tile.func @f() slots [] schedule <m = 192, n = 64, k = 64, stages = 2, consumers = 3, group = 1, copy = "bulk", producer_registers = 24, consumer_registers = 184> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<256x64xbf16>
!pipe = !tile.pipe<6 of !a, !b>
// expected-error @+1 {{245856 bytes of shared memory; a CTA has 232448}}
tile.func @f() slots [] schedule <m = 64, n = 256, k = 64, stages = 6, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x256xf32>
  }
}

// -----

!a = !tile.block<144x64xbf16>
!own = !tile.block<72x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{72 rows for each consumer; a warpgroup multiplies multiples of 8 up to 64}}
tile.func @f() slots [] schedule <m = 144, n = 64, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<72x64xf32>
  }
}

// -----

!a = !tile.block<20x64xbf16>
!own = !tile.block<20x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{20 rows for each consumer; a warpgroup multiplies multiples of 8 up to 64}}
tile.func @f() slots [] schedule <m = 20, n = 64, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<20x64xf32>
  }
}

// -----

!a = !tile.block<64x32xbf16>
!own = !tile.block<64x32xbf16>
!b = !tile.block<64x32xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{blocks of 32 columns of bf16; a warpgroup multiplies rows of multiples of 128 bytes, of bf16 or f16}}
tile.func @f() slots [] schedule <m = 64, n = 64, k = 32, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
  }
}

// -----

!a = !tile.block<64x64xf32>
!own = !tile.block<64x64xf32>
!b = !tile.block<64x64xf32>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{blocks of 64 columns of f32; a warpgroup multiplies rows of multiples of 128 bytes, of bf16 or f16}}
tile.func @f() slots [] schedule <m = 64, n = 64, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<100x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{n is 100; a warpgroup takes multiples of 8 up to 256}}
tile.func @f() slots [] schedule <m = 64, n = 100, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x100xf32>
  }
}

// -----

!a = !tile.block<64x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<264x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{n is 264; a warpgroup takes multiples of 8 up to 256}}
tile.func @f() slots [] schedule <m = 64, n = 264, k = 64, stages = 2, consumers = 1, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x264xf32>
  }
}

// -----

!a = !tile.block<192x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<96x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{a cluster of 3; sm_90a has clusters of powers of two up to 8}}
tile.func @f() slots [] schedule <m = 192, n = 96, k = 64, stages = 2, consumers = 3, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, cluster = 3> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x96xf32>
  }
}

// -----

!a = !tile.block<1024x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<128x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{a cluster of 16; sm_90a has clusters of powers of two up to 8}}
tile.func @f() slots [] schedule <m = 1024, n = 128, k = 64, stages = 2, consumers = 16, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, cluster = 16> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x128xf32>
  }
}

// -----

!a = !tile.block<128x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<64x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{a cluster of 2 with plain copies; only the copy unit brings blocks to other CTAs}}
tile.func @f() slots [] schedule <m = 128, n = 64, k = 64, stages = 2, consumers = 2, group = 1, copy = "plain", producer_registers = 0, consumer_registers = 0, cluster = 2> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x64xf32>
  }
}

// -----

!a = !tile.block<128x64xbf16>
!own = !tile.block<64x64xbf16>
!b = !tile.block<24x64xbf16>
!pipe = !tile.pipe<2 of !a, !b>
// expected-error @+1 {{blocks of 24 rows, of which 2 CTAs cannot bring multiples of 8 each}}
tile.func @f() slots [] schedule <m = 128, n = 24, k = 64, stages = 2, consumers = 2, group = 1, copy = "bulk", producer_registers = 0, consumer_registers = 0, cluster = 2> {
  %pipe = tile.pipe : !pipe
  tile.roles producer {
  } consumers {
  ^bb0(%number: i32):
    %a, %b = tile.wait %pipe : !pipe -> !a, !b
    %r = tile.rows %a part %number : !a -> !own
    %s = tile.dot %r, %b atom "dot.nv(16,25)" : !own, !b -> !tile.pending<64x24xf32>
  }
}
