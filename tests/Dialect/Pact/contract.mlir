// contract.mlir - a contract, printed as it was written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s | bitpact-opt | FileCheck %s
// RUN: bitpact-opt %s --mlir-print-op-generic | bitpact-opt | FileCheck %s

// CHECK: pact.contract "c" of @f dims {hidden = 16, tokens = ?} types {x = bf16, y = bf16} params {eps = 5.000000e-01 : f32} nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>} rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>} primitives {d.step = @fma, r = @root} digest "abc" doc "words"
pact.contract "c" of @f
  dims {hidden = 16, tokens = ?}
  types {x = bf16, y = bf16}
  params {eps = 5.000000e-01 : f32}
  nodes {d = #pact.node<domain "hidden" partition "sweep:* lane:4 pack:2" merge ["pack chain", "sweep chain", "lane halving"] start identity product "exact" accumulator f32>}
  rounding {p = #pact.rounding<exact>, y = #pact.rounding<bf16 rne>}
  primitives {d.step = @fma, r = @root}
  digest "abc" doc "words"

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
