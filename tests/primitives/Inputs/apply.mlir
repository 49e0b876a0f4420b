// apply.mlir - f(x): a sum over one element is that element
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["rows", "one"]>
!row = !pact.real<["rows"]>

pact.operator @apply version 1 dims ["rows", "one"]
    doc "a function of one argument" {
  %x = pact.input "x" : !all
  %f = pact.apply "f" (%x) : (!all) -> !all
  %y = pact.reduce "sum" sum over "one" (%f) : (!all) -> !row
  pact.output "y" %y : !row
}
