// column_sum.mlir - the sum over tokens that gradients of weights need
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "hidden"]>
!column = !pact.real<["hidden"]>

pact.operator @column_sum version 1 dims ["tokens", "hidden"]
    doc "the sum of every column" {
  %x = pact.input "x" : !all
  %sum = pact.reduce "sum" sum over "tokens" (%x) : (!all) -> !column
  pact.output "y" %sum : !column
}
