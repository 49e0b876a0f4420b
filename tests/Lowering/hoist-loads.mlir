// hoist-loads.mlir - loads of a lane are issued together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --hoist-loads | FileCheck %s

// The second load and its address go to the first; of what is written, none.
// CHECK-LABEL: llvm.func @two(
// CHECK: %[[A:.*]] = llvm.getelementptr %arg0
// CHECK: %[[AT:.*]] = llvm.mul
// CHECK: %[[B:.*]] = llvm.getelementptr %arg1[%[[AT]]]
// CHECK: llvm.load %[[A]]
// CHECK-NEXT: llvm.load %[[B]]
// CHECK: llvm.fadd
// CHECK: llvm.getelementptr %arg2
// CHECK: llvm.load
llvm.func @two(%x: !llvm.ptr<1> {llvm.readonly}, %y: !llvm.ptr<1> {llvm.readonly},
               %z: !llvm.ptr<1>, %i: i64) -> f32 {
  %a = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %v = llvm.load %a : !llvm.ptr<1> -> f32
  %sum = llvm.fadd %v, %v : f32
  %at = llvm.mul %i, %i : i64
  %b = llvm.getelementptr %y[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %w = llvm.load %b : !llvm.ptr<1> -> f32
  %c = llvm.getelementptr %z[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %u = llvm.load %c : !llvm.ptr<1> -> f32
  %r = llvm.fadd %sum, %w : f32
  %s = llvm.fadd %r, %u : f32
  llvm.return %s : f32
}

// An address that must be loaded stays where it is.
// CHECK-LABEL: llvm.func @taken(
// CHECK: llvm.load
// CHECK: llvm.fadd
// CHECK: llvm.load
// CHECK: llvm.load
llvm.func @taken(%x: !llvm.ptr<1> {llvm.readonly}, %y: !llvm.ptr<1>, %i: i64) -> f32 {
  %a = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %v = llvm.load %a : !llvm.ptr<1> -> f32
  %sum = llvm.fadd %v, %v : f32
  %c = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
  %at = llvm.load %c : !llvm.ptr<1> -> i64
  %b = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %w = llvm.load %b : !llvm.ptr<1> -> f32
  %r = llvm.fadd %sum, %w : f32
  llvm.return %r : f32
}

// Of long vectors a lane would hold too much.
// CHECK-LABEL: llvm.func @long(
// CHECK: llvm.load
// CHECK: llvm.fadd
// CHECK: llvm.load
llvm.func @long(%x: !llvm.ptr<1> {llvm.readonly}, %i: i64) -> vector<16xf32> {
  %a = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %v = llvm.load %a : !llvm.ptr<1> -> vector<16xf32>
  %sum = llvm.fadd %v, %v : vector<16xf32>
  %b = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %w = llvm.load %b : !llvm.ptr<1> -> vector<16xf32>
  %r = llvm.fadd %sum, %w : vector<16xf32>
  llvm.return %r : vector<16xf32>
}
