// packed_column_sum.mlir - the sum over tokens of sequences laid end to end
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "hidden"]>
!column = !pact.real<["hidden"]>
!bounds = !pact.real<["boundaries"]>

pact.operator @packed_column_sum version 1
    dims ["tokens", "hidden", "boundaries"]
    doc "the sum of every column; the contract may cut tokens at the offsets" {
  %x = pact.input "x" : !all
  %offsets = pact.input "offsets" : !bounds
  %sum = pact.reduce "sum" sum over "tokens" (%x) : (!all) -> !column
  pact.output "y" %sum : !column
}
