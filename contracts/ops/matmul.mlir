// matmul.mlir - y = x times the transpose of weight
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!x = !pact.real<["tokens", "in"]>
!weight = !pact.real<["out", "in"]>
!y = !pact.real<["tokens", "out"]>

pact.operator @matmul version 1 dims ["tokens", "out", "in"]
    doc "every row of x with every row of weight, as a linear layer does" {
  %x = pact.input "x" : !x
  %weight = pact.input "weight" : !weight
  %dot = pact.reduce "dot" dot over "in" (%x, %weight) : (!x, !weight) -> !y
  pact.output "y" %dot : !y
}
