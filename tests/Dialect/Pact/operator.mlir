// operator.mlir - every op of an operator, printed as it was written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s | bitpact-opt | FileCheck %s
// RUN: bitpact-opt %s --mlir-print-op-generic | bitpact-opt | FileCheck %s

!all = !pact.real<["rows", "cols"]>
!row = !pact.real<["rows"]>
!number = !pact.real<[]>

// CHECK-LABEL: pact.operator @everything version 3 dims ["rows", "cols", "bounds"] doc "all ops"
pact.operator @everything version 3 dims ["rows", "cols", "bounds"] doc "all ops" {
  // CHECK: %[[X:.*]] = pact.input "x" : !pact.real<["rows", "cols"]>
  %x = pact.input "x" : !all
  // CHECK: %[[P:.*]] = pact.param "p" : !pact.real<[]>
  %p = pact.param "p" : !number
  // CHECK: %[[N:.*]] = pact.extent "cols" : !pact.real<[]>
  %n = pact.extent "cols" : !number
  // CHECK: %[[C:.*]] = pact.constant "-2.5e-3" : !pact.real<[]>
  %c = pact.constant "-2.5e-3" : !number
  // CHECK: %[[D:.*]] = pact.reduce "dots" dot over "cols"(%[[X]], %[[X]]) : (!pact.real<["rows", "cols"]>, !pact.real<["rows", "cols"]>) -> !pact.real<["rows"]>
  %d = pact.reduce "dots" dot over "cols" (%x, %x) : (!all, !all) -> !row
  // CHECK: %[[S:.*]] = pact.reduce "sums" sum over "cols"(%[[X]])
  %s = pact.reduce "sums" sum over "cols" (%x) : (!all) -> !row
  // CHECK: %[[M:.*]] = pact.reduce "tops" max over "cols"(%[[X]])
  %m = pact.reduce "tops" max over "cols" (%x) : (!all) -> !row
  // CHECK: %[[V0:.*]] = pact.div %[[D]], %[[N]] site "mean" : (!pact.real<["rows"]>, !pact.real<[]>) -> !pact.real<["rows"]>
  %v0 = pact.div %d, %n site "mean" : (!row, !number) -> !row
  // CHECK: %[[V1:.*]] = pact.add %[[V0]], %[[P]] :
  %v1 = pact.add %v0, %p : (!row, !number) -> !row
  // CHECK: %[[V2:.*]] = pact.sub %[[V1]], %[[S]] site "centred" :
  %v2 = pact.sub %v1, %s site "centred" : (!row, !row) -> !row
  // CHECK: %[[V3:.*]] = pact.max %[[V2]], %[[M]] :
  %v3 = pact.max %v2, %m : (!row, !row) -> !row
  // CHECK: %[[V4:.*]] = pact.neg %[[V3]] : (!pact.real<["rows"]>) -> !pact.real<["rows"]>
  %v4 = pact.neg %v3 : (!row) -> !row
  // CHECK: %[[V5:.*]] = pact.abs %[[V4]] site "size" : (!pact.real<["rows"]>) -> !pact.real<["rows"]>
  %v5 = pact.abs %v4 site "size" : (!row) -> !row
  // CHECK: %[[V6:.*]] = pact.apply "rsqrt"(%[[V5]]) rounded "root" : (!pact.real<["rows"]>) -> !pact.real<["rows"]>
  %v6 = pact.apply "rsqrt" (%v5) rounded "root" : (!row) -> !row
  // CHECK: %[[V7:.*]] = pact.mul %[[V6]], %[[X]] : (!pact.real<["rows"]>, !pact.real<["rows", "cols"]>) -> !pact.real<["rows", "cols"]>
  %v7 = pact.mul %v6, %x : (!row, !all) -> !all
  // CHECK: %[[V8:.*]] = pact.mul %[[V7]], %[[C]] :
  %v8 = pact.mul %v7, %c : (!all, !number) -> !all
  // CHECK: pact.output "y" %[[V8]] : !pact.real<["rows", "cols"]>
  pact.output "y" %v8 : !all
  // CHECK: pact.output "z" %[[V6]] site "out" : !pact.real<["rows"]>
  pact.output "z" %v6 site "out" : !row
  // CHECK: %[[I:.*]] = pact.index "i" : !pact.real<["rows"]>
  %i = pact.index "i" : !row
  // CHECK: %[[L:.*]] = pact.reduce "weights" exp_sum over "cols"(%[[X]], %[[M]]) : (!pact.real<["rows", "cols"]>, !pact.real<["rows"]>) -> !pact.real<["rows"]>
  %l = pact.reduce "weights" exp_sum over "cols" (%x, %m) : (!all, !row) -> !row
  // CHECK: %[[T:.*]] = pact.take %[[X]] over "cols" at %[[I]] : (!pact.real<["rows", "cols"]>, !pact.real<["rows"]>) -> !pact.real<["rows"]>
  %t = pact.take %x over "cols" at %i : (!all, !row) -> !row
  // CHECK: %[[O:.*]] = pact.input "o" : !pact.real<["bounds"]>
  %o = pact.input "o" : !pact.real<["bounds"]>
  // CHECK: %[[E:.*]] = pact.segment %[[O]] over "rows" : (!pact.real<["bounds"]>) -> !pact.real<["rows"]>
  %e = pact.segment %o over "rows" : (!pact.real<["bounds"]>) -> !row
  // CHECK: %[[U:.*]] = pact.take %[[X]] over "cols" at %[[E]] : (!pact.real<["rows", "cols"]>, !pact.real<["rows"]>) -> !pact.real<["rows"]>
  %u = pact.take %x over "cols" at %e : (!all, !row) -> !row
  pact.output "u" %u : !row
  // CHECK: %[[W:.*]] = pact.apply "four"(%[[T]], %[[M]], %[[L]], %[[M]]) :
  %w = pact.apply "four" (%t, %m, %l, %m) : (!row, !row, !row, !row) -> !row
  // CHECK: pact.output "w" %[[W]] : !pact.real<["rows"]>
  pact.output "w" %w : !row
  // CHECK: %[[R:.*]] = pact.reduce "rounded" dot over "cols"(%[[X]], %[[X]]) site "product" : (!pact.real<["rows", "cols"]>, !pact.real<["rows", "cols"]>) -> !pact.real<["rows"]>
  %r = pact.reduce "rounded" dot over "cols" (%x, %x) site "product" : (!all, !all) -> !row
  pact.output "r" %r : !row
}
