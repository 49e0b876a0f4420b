// selected_logprob.mlir - the log-probability of one token of every row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "vocab"]>
!row = !pact.real<["tokens"]>
!number = !pact.real<[]>

pact.operator @selected_logprob version 1 dims ["tokens", "vocab"]
    doc "log softmax of logits over a temperature, at the target of every row" {
  %x = pact.input "x" : !all
  %target = pact.index "target" : !row
  %temperature = pact.param "temperature" : !number
  %z = pact.div %x, %temperature site "scaled" : (!all, !number) -> !all
  %m = pact.reduce "max" max over "vocab" (%z) : (!all) -> !row
  %l = pact.reduce "sum" exp_sum over "vocab" (%z, %m) : (!all, !row) -> !row
  %t = pact.take %z over "vocab" at %target : (!all, !row) -> !row
  %centered = pact.sub %t, %m site "centered" : (!row, !row) -> !row
  %log = pact.apply "log" (%l) : (!row) -> !row
  %y = pact.sub %centered, %log : (!row, !row) -> !row
  pact.output "y" %y : !row
}
