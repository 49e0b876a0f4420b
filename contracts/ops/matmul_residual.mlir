// matmul_residual.mlir - y = x times the transpose of weight, plus a residual
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!x = !pact.real<["tokens", "in"]>
!weight = !pact.real<["out", "in"]>
!y = !pact.real<["tokens", "out"]>

// The site "product" says what the residual meets: the sum as it is, or rounded
// as by a kernel of its own that stored it.
pact.operator @matmul_residual version 1 dims ["tokens", "out", "in"]
    doc "every row of x with every row of weight, added to a residual" {
  %x = pact.input "x" : !x
  %weight = pact.input "weight" : !weight
  %residual = pact.input "residual" : !y
  %dot = pact.reduce "dot" dot over "in" (%x, %weight) site "product"
       : (!x, !weight) -> !y
  %added = pact.add %residual, %dot : (!y, !y) -> !y
  pact.output "y" %added : !y
}
