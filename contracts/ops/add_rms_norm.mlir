// add_rms_norm.mlir - residual added before the norm, both results out
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
!column = !pact.real<["hidden"]>
!number = !pact.real<[]>

pact.operator @add_rms_norm version 1 dims ["tokens", "hidden"]
    doc "x + residual, its root-mean-square normalisation row by row, a weight" {
  %x = pact.input "x" : !all
  %residual = pact.input "residual" : !all
  %weight = pact.input "weight" : !column
  %eps = pact.param "eps" : !number
  %h = pact.add %x, %residual site "added" : (!all, !all) -> !all
  pact.output "residual_out" %h : !all
  %sum = pact.reduce "sum_sq" dot over "hidden" (%h, %h)
       : (!all, !all) -> !row
  %n = pact.extent "hidden" : !number
  %mean = pact.div %sum, %n site "mean_sq" : (!row, !number) -> !row
  %shifted = pact.add %mean, %eps : (!row, !number) -> !row
  %r = pact.apply "rsqrt" (%shifted) : (!row) -> !row
  %normed = pact.mul %h, %r site "normed" : (!all, !row) -> !all
  %scaled = pact.mul %normed, %weight : (!all, !column) -> !all
  pact.output "y" %scaled : !all
}
