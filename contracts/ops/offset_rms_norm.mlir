// offset_rms_norm.mlir - RMSNorm whose weight is stored without an offset
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
!column = !pact.real<["hidden"]>
!number = !pact.real<[]>

pact.operator @offset_rms_norm version 1 dims ["tokens", "hidden"]
    doc "root-mean-square normalisation of every row, then offset + weight" {
  %x = pact.input "x" : !all
  %weight = pact.input "weight" : !column
  %eps = pact.param "eps" : !number
  %offset = pact.param "offset" : !number
  %sum = pact.reduce "sum_sq" dot over "hidden" (%x, %x)
       : (!all, !all) -> !row
  %n = pact.extent "hidden" : !number
  %mean = pact.div %sum, %n site "mean_sq" : (!row, !number) -> !row
  %shifted = pact.add %mean, %eps : (!row, !number) -> !row
  %r = pact.apply "rsqrt" (%shifted) : (!row) -> !row
  %normed = pact.mul %x, %r site "normed" : (!all, !row) -> !all
  %factor = pact.add %offset, %weight site "factor"
          : (!number, !column) -> !column
  %scaled = pact.mul %normed, %factor : (!all, !column) -> !all
  pact.output "y" %scaled : !all
}
