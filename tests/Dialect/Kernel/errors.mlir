// errors.mlir - what the verifiers of the kernel dialect refuse
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --verify-diagnostics --split-input-file

#s = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16>
// expected-error @+1 {{'kernel.func' op has 1 arguments but names 2 slots}}
"kernel.func"() <{sym_name = "f", slots = ["x", "n"], rows = "", schedule = #s}> ({
^bb0(%x: !kernel.buffer<f32>):
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{argument of type 'f32'; allowed are !kernel.buffer and i64}}
kernel.func @f(%x: f32) slots ["x"] rows "" schedule <"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  kernel.return
}

// -----

// expected-error @+1 {{attribute 'sym_name' failed to satisfy constraint: string attribute that is not empty}}
kernel.func @""(%n: i64) slots ["n"] rows "" schedule <"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  kernel.return
}

// -----

// expected-error @+1 {{rows names 'tokens', which is no slot}}
kernel.func @f(%n: i64) slots ["n"] rows "tokens" schedule <"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.return' op expects parent op 'kernel.func'}}
kernel.return

// -----

// expected-error @+1 {{schedule kind is 'row_per_grid'; allowed are row_per_group and row_per_lane}}
module attributes {test.s = #kernel.schedule<"row_per_grid", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16>} {}

// -----

// expected-error @+1 {{lanes is 12; it must be a power of two}}
module attributes {test.s = #kernel.schedule<"row_per_lane", lanes = 12, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16>} {}

// -----

// expected-error @+1 {{subgroup is 0; it must be a power of two}}
module attributes {test.s = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 0, programs_per_group = 1, vector_bytes = 0, unroll = 16>} {}

// -----

// expected-error @+1 {{programs_per_group is 2 with more lanes than a subgroup; such programs synchronise and need a group of their own}}
module attributes {test.s = #kernel.schedule<"row_per_group", lanes = 64, subgroup = 32, programs_per_group = 2, vector_bytes = 0, unroll = 16>} {}

// -----

// expected-error @+1 {{programs_per_group and unroll must be positive, vector_bytes not negative}}
module attributes {test.s = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 0>} {}

// -----

func.func @f(%x: !kernel.buffer<f32>, %o: i64) {
  // expected-error @+1 {{'kernel.load' op moves no element}}
  "kernel.load"(%x, %o) <{laneStride = 0 : i64, align = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!kernel.buffer<f32>, i64) -> ()
  return
}

// -----

func.func @f(%x: !kernel.buffer<f32>, %o: i64) {
  // expected-error @+1 {{'kernel.load' op value of type 'vector<8xbf16>' from or to a buffer of 'f32'}}
  %v = kernel.load %x[%o] lane_stride 1 align 4 : !kernel.buffer<f32>, vector<8xbf16>
  return
}

// -----

func.func @f(%x: !kernel.buffer<f32>, %o: i64) {
  // expected-error @+1 {{value of type 'f32' from or to a buffer of 'f32'}}
  %v:2 = kernel.load %x[%o] lane_stride 2 align 4 : !kernel.buffer<f32>, vector<8xf32>, f32
  return
}

// -----

func.func @f(%x: !kernel.buffer<f32>, %o: i64, %m: i1) {
  // expected-error @+1 {{has 2 masks for 4 elements; allowed are 0, 1 or one each}}
  %v:4 = kernel.load %x[%o] mask(%m, %m : i1, i1) lane_stride 4 align 4 : !kernel.buffer<f32>, f32, f32, f32, f32
  return
}

// -----

func.func @f(%x: !kernel.buffer<f32>, %o: i64, %v: f32) {
  // expected-error @+1 {{'kernel.store' op mask of type 'i64'}}
  kernel.store %v to %x[%o] mask(%o : i64) lane_stride 1 align 4 : !kernel.buffer<f32>, f32
  return
}

// -----

func.func @f(%x: !kernel.buffer<f32>, %o: i64, %v: f32) {
  // expected-error @+1 {{align is 12; it must be a power of two}}
  kernel.store %v to %x[%o] lane_stride 1 align 12 : !kernel.buffer<f32>, f32
  return
}

// -----

func.func @f(%v: vector<8xf32>) {
  // expected-error @+1 {{distance is 3; it must be a power of two}}
  %e = kernel.exchange %v distance 3 : vector<8xf32>
  return
}

// -----

func.func @f(%v: vector<8xf32>) {
  // expected-error @+1 {{distance 8 reaches beyond 8 lanes}}
  %e = kernel.exchange %v distance 8 : vector<8xf32>
  return
}

// -----

func.func @f(%v: vector<8xf32>) {
  // expected-error @+1 {{from 'f32' to 'f64' does not narrow}}
  %e = kernel.narrow %v : vector<8xf32> to vector<8xf64>
  return
}

// -----

// Values pass between the formats of one width through f32.
func.func @f(%v: f16) {
  // expected-error @+1 {{from 'f16' to 'bf16' does not narrow}}
  %e = kernel.narrow %v : f16 to bf16
  return
}

// -----

func.func @f(%v: vector<8xf32>) {
  // expected-error @+1 {{from 8 lanes to 4 lanes}}
  %e = kernel.narrow %v : vector<8xf32> to vector<4xbf16>
  return
}

// -----

func.func @f(%s: !kernel.scratch<4 x f32>, %i: i64) {
  // expected-error @+1 {{'kernel.peek' op cell of type 'f32' read or written as 'f64'}}
  %v = kernel.peek %s[%i] : <4 x f32>, f64
  return
}

// -----

func.func @f(%s: !kernel.scratch<4 x f32>, %i: i64, %v: f64) {
  // expected-error @+1 {{'kernel.poke' op cell of type 'f32' read or written as 'f64'}}
  kernel.poke %v, %s[%i] : f64, <4 x f32>
  return
}

// -----

func.func @f(%v: vector<64xf32>) {
  // expected-error @+1 {{'kernel.gather' op gives 4 values; 64 lanes have 2 subgroups of 32}}
  %g:4 = kernel.gather %v subgroup 32 : vector<64xf32> -> vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>
  return
}

// -----

func.func @f(%v: vector<64xf32>) {
  // expected-error @+1 {{'kernel.gather' op value of type 'f32' from a gather of 'vector<64xf32>'}}
  %g:2 = kernel.gather %v subgroup 32 : vector<64xf32> -> f32, f32
  return
}

// -----

func.func @f(%x: !kernel.buffer<i32>, %i: i64) {
  // expected-error @+1 {{'kernel.read' op value of type 'i64' from a buffer of 'i32'}}
  %v = kernel.read %x[%i] : !kernel.buffer<i32>, i64
  return
}

// -----

// expected-error @+1 {{'kernel.func' op split names 'tokens', which is no slot}}
kernel.func @f(%hidden: i64) slots ["hidden"] rows "hidden"
    schedule <"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1,
              vector_bytes = 0, unroll = 16>
    attributes {split = #kernel.split<"tokens", length = 256, less = 0>} {
  kernel.return
}

// -----

// expected-error @+1 {{rows_per_lane is 3; it must be a power of two, and 1 unless the kind is row_per_lane}}
#s = #kernel.schedule<"row_per_lane", lanes = 8, subgroup = 8, programs_per_group = 1, vector_bytes = 0, unroll = 16 rows_per_lane = 3>

// -----

// expected-error @+1 {{length is 0 and less is 0; they must be positive and not negative}}
#s = #kernel.split<"tokens", length = 0, less = 0>
