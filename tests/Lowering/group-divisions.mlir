// group-divisions.mlir - divisions that do not wait for each other, together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --group-divisions | FileCheck %s

// What needs a quotient comes after all of them, in its order; the load that needs
// none stays.
// CHECK-LABEL: llvm.func @four(
llvm.func @four(%x: vector<2xf32>, %y: vector<2xf32>, %z: f32, %p: !llvm.ptr) {
  // CHECK: %[[W:.*]] = llvm.load
  // CHECK: %[[X0:.*]] = llvm.extractelement %arg0
  // CHECK: %[[Y0:.*]] = llvm.extractelement %arg1
  // CHECK: %[[X1:.*]] = llvm.extractelement %arg0
  // CHECK: %[[Y1:.*]] = llvm.extractelement %arg1
  // CHECK: %[[ALL:.*]] = llvm.inline_asm
  // CHECK-SAME: { .reg .f32 over<4>, under<4>,
  // CHECK-SAME: rcp.approx.ftz.f32 near3, under3;
  // CHECK-SAME: mul.rn.f32 q3, over3, near3;
  // CHECK-SAME: fma.rn.f32 rest, less3, q3, over3;
  // CHECK-SAME: fma.rn.f32 q3, rest, near3, q3;
  // CHECK-SAME: @usual bra divided;
  // CHECK-SAME: div.rn.f32 q3, over3, under3;
  // CHECK-SAME: "=f,=f,=f,=f,f,f,f,f,f,f,f,f" %[[X0]], %[[X1]], %arg2, %[[W]], %[[Y0]], %[[Y1]], %[[W]], %arg2 :
  // CHECK: %[[Q0:.*]] = llvm.extractvalue %[[ALL]][0]
  // CHECK: %[[Q2:.*]] = llvm.extractvalue %[[ALL]][2]
  // CHECK: %[[Q3:.*]] = llvm.extractvalue %[[ALL]][3]
  // CHECK: llvm.insertelement %[[Q0]]
  // CHECK: %[[V:.*]] = llvm.insertelement
  // CHECK: %[[SUM:.*]] = llvm.fadd %[[V]], %[[V]]
  // CHECK: %[[PRODUCT:.*]] = llvm.fmul %[[Q2]], %[[Q2]]
  // CHECK: llvm.store %[[SUM]]
  // CHECK: llvm.store %[[PRODUCT]]
  // CHECK: llvm.store %[[Q3]]
  // CHECK-NOT: fdiv
  %v = llvm.fdiv %x, %y : vector<2xf32>
  %sum = llvm.fadd %v, %v : vector<2xf32>
  %w = llvm.load %p : !llvm.ptr -> f32
  %s = llvm.fdiv %z, %w : f32
  %product = llvm.fmul %s, %s : f32
  %t = llvm.fdiv %w, %z : f32
  llvm.store %sum, %p : vector<2xf32>, !llvm.ptr
  llvm.store %product, %p : f32, !llvm.ptr
  llvm.store %t, %p : f32, !llvm.ptr
  llvm.return
}

// Of one divisor there is one reciprocal.
// CHECK-LABEL: llvm.func @one_divisor(
// CHECK: llvm.inline_asm
// CHECK-SAME: { .reg .f32 over<4>, under<1>,
// CHECK-SAME: "=f,=f,=f,=f,f,f,f,f,f" %arg0, %arg1, %arg0, %arg1, %arg2 :
llvm.func @one_divisor(%x: f32, %y: f32, %z: f32, %p: !llvm.ptr) {
  %a = llvm.fdiv %x, %z : f32
  %b = llvm.fdiv %y, %z : f32
  %c = llvm.fdiv %x, %z : f32
  %d = llvm.fdiv %y, %z : f32
  llvm.store %a, %p : f32, !llvm.ptr
  llvm.store %b, %p : f32, !llvm.ptr
  llvm.store %c, %p : f32, !llvm.ptr
  llvm.store %d, %p : f32, !llvm.ptr
  llvm.return
}

// As many in each of two groups as can be: of a program that has a unit to itself
// up to eight.
// CHECK-LABEL: llvm.func @ten(
// CHECK: llvm.inline_asm{{.*}}over<5>, under<5>
// CHECK: llvm.inline_asm{{.*}}over<5>, under<5>
llvm.func @ten(%x: vector<10xf32>, %y: vector<10xf32>) -> vector<10xf32>
    attributes {nvvm.minctasm = 1 : i32} {
  %q = llvm.fdiv %x, %y : vector<10xf32>
  llvm.return %q : vector<10xf32>
}

// Else four, and none in a loop.
// CHECK-LABEL: llvm.func @shared(
// CHECK: llvm.inline_asm{{.*}}over<4>, under<4>
// CHECK: llvm.inline_asm{{.*}}over<4>, under<4>
// CHECK: llvm.fdiv
llvm.func @shared(%x: vector<8xf32>, %y: vector<8xf32>, %c: i1) -> vector<8xf32> {
  %q = llvm.fdiv %x, %y : vector<8xf32>
  llvm.br ^loop(%q : vector<8xf32>)
^loop(%a: vector<8xf32>):
  %r = llvm.fdiv %a, %y : vector<8xf32>
  llvm.cond_br %c, ^loop(%r : vector<8xf32>), ^end
^end:
  llvm.return %r : vector<8xf32>
}

// A store that needs a quotient ends a group, and so does a division.
// CHECK-LABEL: llvm.func @apart(
// CHECK-NOT: llvm.inline_asm
// CHECK: llvm.fdiv
// CHECK: llvm.store
// CHECK: llvm.fdiv
// CHECK: llvm.fdiv
// CHECK-NOT: llvm.inline_asm
llvm.func @apart(%x: vector<2xf32>, %y: vector<2xf32>, %p: !llvm.ptr) -> vector<2xf32> {
  %a = llvm.fdiv %x, %y : vector<2xf32>
  llvm.store %a, %p : vector<2xf32>, !llvm.ptr
  %b = llvm.fdiv %y, %x : vector<2xf32>
  %c = llvm.fdiv %b, %x : vector<2xf32>
  llvm.return %c : vector<2xf32>
}

// Of f64 the target divides.
// CHECK-LABEL: llvm.func @f64(
// CHECK: llvm.fdiv
llvm.func @f64(%x: vector<8xf64>, %y: vector<8xf64>) -> vector<8xf64> {
  %q = llvm.fdiv %x, %y : vector<8xf64>
  llvm.return %q : vector<8xf64>
}
