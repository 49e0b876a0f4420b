// contract-errors.mlir - rules D, PI, T, P, R and A on the op
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --verify-diagnostics --split-input-file

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{operator 'g' is unknown [C7]}}
pact.contract "c" of @g
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{nodes 'd' must be a #pact.node attribute, not 1 : i64 [C4]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = 1 : i64}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{dim 'hidden' of operator 'f' is not bound in 'dims' [D1]}}
pact.contract "c" of @f
  dims {tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{domain of node 'd' is 'tokens', but the node reduces over 'hidden' [D2]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "tokens" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{dim 'hidden' has extent 0; allowed are "*" and positive integers [D3]}}
pact.contract "c" of @f
  dims {hidden = 0, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{tensor 'y' of operator 'f' is not bound in 'types' [C6]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{'types' binds 'z', but operator 'f' has no such tensor; there are x, y [C2]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16, z = f32}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[P1]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = i8, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[PI5]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:1 lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{its key 'offsets' must name an i32 input of operator 'f' [PI7]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:@offsets pack:*" merge ["pack chain", "sweep fold"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T1]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T2]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:3 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T3]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep halving", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T4]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane any"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T5]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep fold", "lane chain"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T6]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane fused(dot.nv(16,25))"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{[T7]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack fused(dot.nv(16,25))", "sweep chain", "lane halving"] start first product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{product of node 'd' is 'f32', but the step 'fma' has product 'exact' [P2]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "f32" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{accumulator of node 'd' is 'f64', but the step 'fma' accumulates in 'f32' [P3]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f64>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{site 'y' rounds to 'f32', but the type of its output tensor 'y' is 'bf16' [P4]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<f32 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{rounding site 'p' of operator 'f' is not bound in 'rounding' [R1]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{'rounding' binds 'q', but operator 'f' has no such rounding site; there are p, y [R2]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, q = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{site 'y' is exact, but its value is no multiplication}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<exact>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{primitive site 'r' of operator 'f' is not bound in 'primitives' [A1]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{primitive 'none' at site 'r' is unknown [A2]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @none}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{site 'd.step' takes a step of dot, and 'root' is a function [A3]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @root, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %eps = pact.param "eps" : !pact.real<[]>
  %d = pact.reduce "d" dot over "hidden" (%x, %x) : (!all, !all) -> !row
  %p = pact.mul %d, %d site "p" : (!row, !row) -> !row
  %s = pact.add %p, %eps : (!row, !pact.real<[]>) -> !row
  %r = pact.apply "r" (%s) : (!row) -> !row
  pact.output "y" %r : !row
}
pact.primitive @fma step dot product "exact" (%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = pact.fma %a, %b, %c : f32
  pact.yield %0 : f32
}
pact.primitive @root function (%a: f32) -> f32 {
  %0 = pact.sqrt %a : f32
  pact.yield %0 : f32
}
// expected-error @+1 {{primitive 'fma' at site 'd.step' takes 'f32' as argument 0, and 'f64' does not widen to it exactly [A3]}}
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = f64, y = bf16}
  params {eps = 1.000000e-06 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}

// -----

!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %at = pact.input "at" : !row
  %s = pact.reduce "s" sum over "hidden" (%x) : (!all) -> !row
  pact.output "y" %s : !row
}
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %0 = arith.addf %acc, %x : f32
  pact.yield %0 : f32
}
// An input that takes part in no operation may hold offsets.
pact.contract "packed" of @f dims {hidden = 16, tokens = ?}
  types {at = i32, x = f32, y = f32} params {}
  nodes {s = #pact.node<domain "hidden" partition "o:@offsets k:*" merge ["k chain", "o fold"] start identity accumulator f32 offsets "at">}
  rounding {y = #pact.rounding<f32 rne>} primitives {s.step = @add}
// expected-error @+1 {{input 'at' of operator 'f' is used by nothing, and no node names it in 'offsets' [F6]}}
pact.contract "unused" of @f dims {hidden = 16, tokens = ?}
  types {at = f32, x = f32, y = f32} params {}
  nodes {s = #pact.node<domain "hidden" partition "k:*" merge ["k chain"] start identity accumulator f32>}
  rounding {y = #pact.rounding<f32 rne>} primitives {s.step = @add}
