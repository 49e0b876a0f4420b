// sum.mlir - y[tokens] = sum of x[tokens, hidden] over hidden
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!rows = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>

pact.operator @sum version 1 dims ["tokens", "hidden"]
    doc "the sum of every row" {
  %x = pact.input "x" : !rows
  %s = pact.reduce "sum" sum over "hidden" (%x) : (!rows) -> !row
  pact.output "y" %s : !row
}
