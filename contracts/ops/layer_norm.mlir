// layer_norm.mlir - (x - mean) / sqrt(var + eps) * weight + bias, row by row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
!column = !pact.real<["hidden"]>
!number = !pact.real<[]>

pact.operator @layer_norm version 1 dims ["tokens", "hidden"]
    doc "every row less its mean, over its standard deviation, a weight and a bias" {
  %x = pact.input "x" : !all
  %weight = pact.input "weight" : !column
  %bias = pact.input "bias" : !column
  %eps = pact.param "eps" : !number
  %n = pact.extent "hidden" : !number
  %sum = pact.reduce "sum" sum over "hidden" (%x) : (!all) -> !row
  %mean = pact.div %sum, %n site "mean" : (!row, !number) -> !row
  %centered = pact.sub %x, %mean site "centered" : (!all, !row) -> !all
  %square = pact.reduce "sum_sq" dot over "hidden" (%centered, %centered)
          : (!all, !all) -> !row
  %var = pact.div %square, %n site "var" : (!row, !number) -> !row
  %shifted = pact.add %var, %eps : (!row, !number) -> !row
  %r = pact.apply "rsqrt" (%shifted) : (!row) -> !row
  %normed = pact.mul %centered, %r site "normed" : (!all, !row) -> !all
  %scaled = pact.mul %normed, %weight site "scaled" : (!all, !column) -> !all
  %y = pact.add %scaled, %bias : (!all, !column) -> !all
  pact.output "y" %y : !all
}
