// apply2.mlir - f(x, m): a sum over one element is that element
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!all = !pact.real<["rows", "one"]>
!row = !pact.real<["rows"]>

pact.operator @apply2 version 1 dims ["rows", "one"]
    doc "a function of two arguments" {
  %x = pact.input "x" : !all
  %m = pact.input "m" : !all
  %f = pact.apply "f" (%x, %m) : (!all, !all) -> !all
  %y = pact.reduce "sum" sum over "one" (%f) : (!all) -> !row
  pact.output "y" %y : !row
}
