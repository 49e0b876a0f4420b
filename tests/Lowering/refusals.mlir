// refusals.mlir - what a schedule of rows cannot keep
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --lower-rows --verify-diagnostics --split-input-file

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @sum version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  pact.output "y" %s : !row
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
// expected-error @+1 {{node sum: merge: no digit with form halving or pairwise has at least 32 blocks for the lanes of a row}}
pact.contract "serial" of @sum dims {tokens = ?, hidden = 64}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "k:*" merge ["k chain"]
    start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {sum.step = @add}
  {kernel.schedule = #kernel.schedule<"row_per_group", lanes = 32,
    subgroup = 32, programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @packed version 1 dims ["tokens", "hidden", "cuts"] {
  %x = pact.input "x" : !all
  %at = pact.input "at" : !pact.real<["cuts"]>
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  pact.output "y" %s : !row
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
// expected-error @+1 {{node sum: partition: digit 'seq' has blocks given by offsets; schedules accept it down columns, where lanes have several rows}}
pact.contract "packed" of @packed dims {cuts = ?, tokens = ?, hidden = 64}
  types {at = i32, x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "seq:@offsets k:*"
    merge ["k chain", "seq fold"] start identity accumulator f32
    offsets "at">}
  rounding {y = #pact.rounding<f32 rne>} primitives {sum.step = @add}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @packed version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %at = pact.input "at" : !pact.real<["tokens"]>
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  pact.output "y" %s : !row
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
// expected-error @+1 {{node sum: offsets: tensor 'at' needs one dim, which no other tensor has; schedules take the number of blocks from it}}
pact.contract "packed" of @packed dims {tokens = ?, hidden = 64}
  types {at = i32, x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "seq:@offsets k:*"
    merge ["k chain", "seq fold"] start identity accumulator f32
    offsets "at">}
  rounding {y = #pact.rounding<f32 rne>} primitives {sum.step = @add}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @square version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  pact.output "y" %s : !row
}
pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25
  : (bf16, bf16, f32) -> f32
// expected-error @+1 {{node d: merge: 'k' is fused, and a reduction of rows has no matrix unit to run it; write chain}}
pact.contract "fused" of @square dims {tokens = ?, hidden = 64}
  types {x = bf16, y = f32} params {}
  nodes {d = #pact.node<domain "hidden" partition "step:* k:16"
    merge ["k fused(dot.nv(16,25))", "step chain"] start identity
    product "exact" accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {d.step = @"dot.nv(16,25)"}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
!one = !pact.real<[]>
pact.operator @total version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  %t = pact.reduce "all" sum over "tokens" (%s) : (!row) -> !one
  pact.output "y" %t : !one
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
// expected-error @+1 {{operator total reduces over 'hidden' and over 'tokens'; a schedule of rows accepts one reduced dim}}
pact.contract "total" of @total dims {tokens = 4, hidden = 64}
  types {x = f32, y = f32} params {}
  nodes {all = #pact.node<domain "tokens" partition "k:*" merge ["k chain"]
           start identity accumulator f32>,
         sum = #pact.node<domain "hidden" partition "k:*" merge ["k chain"]
           start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>}
  primitives {all.step = @add, sum.step = @add}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// -----

!all = !pact.real<["tokens", "heads", "hidden"]>
pact.operator @negate version 1 dims ["tokens", "heads", "hidden"] {
  %x = pact.input "x" : !all
  %n = pact.neg %x : (!all) -> !all
  pact.output "y" %n : !all
}
// expected-error @+1 {{operator negate has the dims 'tokens' and 'heads' beside the last one; a schedule of rows accepts one}}
pact.contract "negate" of @negate dims {tokens = ?, heads = ?, hidden = ?}
  types {x = f32, y = f32} params {} nodes {}
  rounding {y = #pact.rounding<f32 rne>} primitives {}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8,
    programs_per_group = 1, vector_bytes = 0, unroll = 64>}

// -----

!all = !pact.real<["tokens", "hidden"]>
!column = !pact.real<["hidden"]>
pact.operator @columns version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "sum" sum over "tokens" (%x) : (!all) -> !column
  pact.output "y" %s : !column
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
// expected-error @+1 {{node sum: merge: the outermost is a chain, which one accumulator visits; several programs can share a row where it is fold, pairwise or halving}}
pact.contract "serial" of @columns dims {tokens = ?, hidden = 64}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "tokens" partition "k:*" merge ["k chain"]
    start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {sum.step = @add}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 32,
    subgroup = 32, programs_per_group = 1, vector_bytes = 16, unroll = 64
    rows_per_lane = 4 split = 256>}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @sum version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  pact.output "y" %s : !row
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
// expected-error @+1 {{operator sum has the tensor 'x', in which neighbours in 'tokens' do not lie side by side}}
pact.contract "apart" of @sum dims {tokens = ?, hidden = 64}
  types {x = f32, y = f32} params {}
  nodes {sum = #pact.node<domain "hidden" partition "k:*" merge ["k pairwise"]
    start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {sum.step = @add}
  {kernel.schedule = #kernel.schedule<"row_per_lane", lanes = 32,
    subgroup = 32, programs_per_group = 1, vector_bytes = 16, unroll = 64
    rows_per_lane = 4>}
