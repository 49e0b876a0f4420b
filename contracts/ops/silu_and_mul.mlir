// silu_and_mul.mlir - silu of gate products times up products
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!y = !pact.real<["tokens", "out"]>

// The second kernel of an engine that has the products of swiglu from a first:
// as halves of one row, or as tensors of their own. The sites are those of
// swiglu@1.
pact.operator @silu_and_mul version 1 dims ["tokens", "out"]
    doc "silu(gate) times up, element by element" {
  %gate = pact.input "gate" : !y
  %up = pact.input "up" : !y
  %a = pact.apply "silu" (%gate) rounded "activation" : (!y) -> !y
  %gated = pact.mul %a, %up : (!y, !y) -> !y
  pact.output "y" %gated : !y
}
