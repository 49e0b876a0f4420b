// log_sum_exp.mlir - log of the sum of e^x of every row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "vocab"]>
!row = !pact.real<["tokens"]>

pact.operator @log_sum_exp version 1 dims ["tokens", "vocab"]
    doc "the logarithm of the sum of e^x of every row" {
  %x = pact.input "x" : !all
  %m = pact.reduce "max" max over "vocab" (%x) : (!all) -> !row
  %l = pact.reduce "sum" exp_sum over "vocab" (%x, %m) : (!all, !row) -> !row
  %log = pact.apply "log" (%l) : (!row) -> !row
  %y = pact.add %m, %log : (!row, !row) -> !row
  pact.output "y" %y : !row
}
