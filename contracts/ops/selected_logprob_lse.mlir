// selected_logprob_lse.mlir - a log-probability by the log-sum-exp of its row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "vocab"]>
!row = !pact.real<["tokens"]>
!number = !pact.real<[]>

// selected_logprob is (t - m) - log l, this one t - (m + log l).
pact.operator @selected_logprob_lse version 1 dims ["tokens", "vocab"]
    doc "the logit at the target of every row less its row's log-sum-exp" {
  %x = pact.input "x" : !all
  %target = pact.index "target" : !row
  %temperature = pact.param "temperature" : !number
  %z = pact.div %x, %temperature site "scaled" : (!all, !number) -> !all
  %m = pact.reduce "max" max over "vocab" (%z) : (!all) -> !row
  %l = pact.reduce "sum" exp_sum over "vocab" (%z, %m) : (!all, !row) -> !row
  %t = pact.take %z over "vocab" at %target : (!all, !row) -> !row
  %log = pact.apply "log" (%l) : (!row) -> !row
  %lse = pact.add %m, %log site "lse" : (!row, !row) -> !row
  %y = pact.sub %t, %lse : (!row, !row) -> !row
  pact.output "y" %y : !row
}
