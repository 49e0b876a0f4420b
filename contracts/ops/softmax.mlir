// softmax.mlir - e^x over the sum of e^x, row by row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "vocab"]>
!row = !pact.real<["tokens"]>

pact.operator @softmax version 1 dims ["tokens", "vocab"]
    doc "every row as probabilities, by its maximum" {
  %x = pact.input "x" : !all
  %m = pact.reduce "max" max over "vocab" (%x) : (!all) -> !row
  %l = pact.reduce "sum" exp_sum over "vocab" (%x, %m) : (!all, !row) -> !row
  %w = pact.apply "weight" (%x, %m) : (!all, !row) -> !all
  %y = pact.div %w, %l : (!all, !row) -> !all
  pact.output "y" %y : !all
}
