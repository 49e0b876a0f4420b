// grouped_matmul.mlir - y = x · Wᵀ with the weights of the row's expert
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!x = !pact.real<["tokens", "in"]>
!weights = !pact.real<["experts", "out", "in"]>
!bounds = !pact.real<["boundaries"]>
!row = !pact.real<["tokens"]>
!own = !pact.real<["tokens", "out", "in"]>
!y = !pact.real<["tokens", "out"]>

pact.operator @grouped_matmul version 1
    dims ["tokens", "experts", "boundaries", "out", "in"]
    doc "rows sorted by expert; the tokens of expert e begin at offsets[e]" {
  %x = pact.input "x" : !x
  %weight = pact.input "weight" : !weights
  %offsets = pact.input "offsets" : !bounds
  %expert = pact.segment %offsets over "tokens" : (!bounds) -> !row
  %own = pact.take %weight over "experts" at %expert : (!weights, !row) -> !own
  %dot = pact.reduce "dot" dot over "in" (%x, %own) : (!x, !own) -> !y
  pact.output "y" %dot : !y
}
