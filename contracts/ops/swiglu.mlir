// swiglu.mlir - the gated product of two linear layers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!x = !pact.real<["tokens", "in"]>
!weight = !pact.real<["out", "in"]>
!y = !pact.real<["tokens", "out"]>

// The sites say which of the four kernels of an unfused engine store what they
// compute: each product, the activation, and the result.
pact.operator @swiglu version 1 dims ["tokens", "out", "in"]
    doc "silu(x gate_weight^T) times x up_weight^T, element by element" {
  %x = pact.input "x" : !x
  %gate_weight = pact.input "gate_weight" : !weight
  %up_weight = pact.input "up_weight" : !weight
  %gate = pact.reduce "gate" dot over "in" (%x, %gate_weight) site "gate_product"
        : (!x, !weight) -> !y
  %up = pact.reduce "up" dot over "in" (%x, %up_weight) site "up_product"
      : (!x, !weight) -> !y
  %a = pact.apply "silu" (%gate) rounded "activation" : (!y) -> !y
  %gated = pact.mul %a, %up : (!y, !y) -> !y
  pact.output "y" %gated : !y
}
