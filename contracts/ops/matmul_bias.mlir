// matmul_bias.mlir - y = x times the transpose of weight, plus a bias
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!x = !pact.real<["tokens", "in"]>
!weight = !pact.real<["out", "in"]>
!y = !pact.real<["tokens", "out"]>
!column = !pact.real<["out"]>

// The site "product" says what the bias meets: the sum as it is, or rounded.
pact.operator @matmul_bias version 1 dims ["tokens", "out", "in"]
    doc "every row of x with every row of weight, and a bias for each of those" {
  %x = pact.input "x" : !x
  %weight = pact.input "weight" : !weight
  %bias = pact.input "bias" : !column
  %dot = pact.reduce "dot" dot over "in" (%x, %weight) site "product"
       : (!x, !weight) -> !y
  %biased = pact.add %dot, %bias : (!y, !column) -> !y
  pact.output "y" %biased : !y
}
