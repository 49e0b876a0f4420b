// attributes-errors.mlir - rules that the syntax of an attribute can break
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{[PI1]}}
module attributes {test.a = #pact.partition<"sweep;*">} {}

// -----

// expected-error @+1 {{[PI2]}}
module attributes {test.a = #pact.partition<"a:* a:2">} {}

// -----

// expected-error @+1 {{[PI3]}}
module attributes {test.a = #pact.partition<"a:* b:*">} {}

// -----

// expected-error @+1 {{[PI4]}}
module attributes {test.a = #pact.partition<"a:2 b:*">} {}

// -----

// expected-error @+1 {{[PI6]}}
module attributes {test.a = #pact.partition<"a:0">} {}

// -----

// expected-error @+1 {{[T8]}}
module attributes {test.a = #pact.merge<["a sideways"]>} {}

// -----

// expected-error @+1 {{[P1]}}
module attributes {test.a = #pact.merge<["a fold in f8"]>} {}

// -----

// expected-error @+1 {{rounds to 'f128'; allowed are f64, f32, f16 and bf16 [R4]}}
module attributes {test.a = #pact.rounding<f128 rne>} {}

// -----

// expected-error @+1 {{rounding mode "rtz" is unknown; allowed is rne [R4]}}
module attributes {test.a = #pact.rounding<f32 rtz>} {}

// -----

// expected-error @+1 {{start is zero; allowed are identity and first [C4]}}
module attributes {test.a = #pact.node<domain "k" partition "k:*" merge ["k chain"] start zero accumulator f32>} {}

// -----

// expected-error @+1 {{state is later; allowed are two_pass and online [C4]}}
module attributes {test.node = #pact.node<domain "k" partition "k:*" merge ["k carry"] start identity state later accumulator f32>} {}

// -----

// expected-error @+1 {{'carry' takes elements through the step primitive}}
module attributes {test.merge = #pact.merge<["k carry from bf16"]>} {}
