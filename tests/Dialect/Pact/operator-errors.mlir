// operator-errors.mlir - rules F1 to F7, F11 and S1
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: bitpact-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{dimension "a" is empty or stands twice; dimensions are distinct names [F1]}}
pact.operator @f version 1 dims ["a", "a"] {
  %x = pact.input "x" : !pact.real<["a"]>
  pact.output "y" %x : !pact.real<["a"]>
}

// -----

// expected-error @+1 {{attribute 'sym_name' failed to satisfy constraint: string attribute that is not empty}}
pact.operator @"" version 1 dims ["a"] {
  %x = pact.input "x" : !pact.real<["a"]>
  pact.output "y" %x : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{dimension "a" is empty or stands twice; dimensions are distinct names [F1]}}
  %x = pact.input "x" : !pact.real<["a", "a"]>
  pact.output "y" %x : !pact.real<["a", "a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{dimension "c" of '!pact.real<["c"]>' is unknown; the operator's dims are ["a", "b"] [F2]}}
  %x = pact.input "x" : !pact.real<["c"]>
  pact.output "y" %x : !pact.real<["c"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{dimension "a" of '!pact.real<["b", "a"]>' is out of order; the operator's dims are ["a", "b"] [F2]}}
  %x = pact.input "x" : !pact.real<["b", "a"]>
  pact.output "y" %x : !pact.real<["b", "a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{dimension "c" is unknown; the operator's dims are ["a", "b"] [F2]}}
  %n = pact.extent "c" : !pact.real<[]>
  pact.output "y" %n : !pact.real<[]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a"]>
  %w = pact.input "w" : !pact.real<["b"]>
  // expected-error @+1 {{result has dims ["a"] but its operands give ["a", "b"] [F3]}}
  %z = pact.mul %x, %w : (!pact.real<["a"]>, !pact.real<["b"]>) -> !pact.real<["a"]>
  pact.output "y" %z : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{result has dims ["a"] but its operands give [] [F3]}}
  %p = pact.param "p" : !pact.real<["a"]>
  pact.output "y" %p : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  // expected-error @+1 {{result has dims ["b"] but its operands give ["a"] [F3]}}
  %s = pact.reduce "s" sum over "b" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["b"]>
  pact.output "y" %s : !pact.real<["b"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-note @+1 {{first here}}
  %x = pact.input "x" : !pact.real<["a"]>
  // expected-error @+1 {{tensor "x" is empty or named twice [F4]}}
  pact.output "x" %x : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a"]>
  // expected-note @+1 {{first here}}
  %n = pact.neg %x site "y" : (!pact.real<["a"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{site "y" is empty or named twice [F4]}}
  pact.output "y" %n : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  // expected-error @+1 {{kind dot takes 2 operands, not 1 [F5]}}
  %s = pact.reduce "s" dot over "b" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  pact.output "y" %s : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a"]>
  // expected-error @+1 {{reduces over "b", which an operand does not have; its dims are ["a"] [F5]}}
  %s = pact.reduce "s" sum over "b" (%x) : (!pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %s : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a"]>
  // expected-error @+1 {{has a result that nothing uses [F6]}}
  %w = pact.neg %x : (!pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %x : !pact.real<["a"]>
}

// -----

// expected-error @+1 {{has no output [F6]}}
pact.operator @f version 1 dims ["a"] {
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{is no operation on real values [F6]}}
  %c = arith.constant 1.0 : f32
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{value "0x1p3" is not a decimal number [F7]}}
  %c = pact.constant "0x1p3" : !pact.real<[]>
  pact.output "y" %c : !pact.real<[]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{value "1e" is not a decimal number [F7]}}
  %c = pact.constant "1e" : !pact.real<[]>
  pact.output "y" %c : !pact.real<[]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %m = pact.reduce "m" max over "b" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{kind exp_sum takes 2 operands, not 1 [F5]}}
  %l = pact.reduce "l" exp_sum over "b" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  pact.output "y" %l : !pact.real<["a"]>
  pact.output "z" %m : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %z = pact.neg %x : (!pact.real<["a", "b"]>) -> !pact.real<["a", "b"]>
  %m = pact.reduce "m" max over "b" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{kind exp_sum takes as its second operand the max over "b" of its first [S1]}}
  %l = pact.reduce "l" exp_sum over "b" (%z, %m) : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %l : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %s = pact.reduce "s" sum over "b" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{kind exp_sum takes as its second operand the max over "b" of its first [S1]}}
  %l = pact.reduce "l" exp_sum over "b" (%x, %s) : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %l : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  // expected-note @+1 {{first here}}
  %w = pact.apply "l.weight" (%x) : (!pact.real<["a", "b"]>) -> !pact.real<["a", "b"]>
  %m = pact.reduce "m" max over "b" (%w) : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{site "l.weight" is empty or named twice [F4]}}
  %l = pact.reduce "l" exp_sum over "b" (%w, %m) : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %l : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{index "i" is used by something other than the position of a pact.take [F11]}}
  %i = pact.index "i" : !pact.real<["a"]>
  pact.output "y" %i : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %p = pact.input "p" : !pact.real<["a"]>
  // expected-error @+1 {{takes at something that is no pact.index and no pact.segment [F11]}}
  %t = pact.take %x over "b" at %p : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a"]>
  %i = pact.index "i" : !pact.real<["a"]>
  // expected-error @+1 {{takes over "b", which its operand does not have; its dims are ["a"] [F11]}}
  %t = pact.take %x over "b" at %i : (!pact.real<["a"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %i = pact.index "i" : !pact.real<["b"]>
  // expected-error @+1 {{takes over "b", which its index has too [F11]}}
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["b"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["b"]>
  %i = pact.index "i" : !pact.real<["a"]>
  // expected-error @+1 {{result has dims [] but its operands give ["a"] [F3]}}
  %t = pact.take %x over "b" at %i : (!pact.real<["b"]>, !pact.real<["a"]>) -> !pact.real<[]>
  pact.output "y" %t : !pact.real<[]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %w = pact.input "w" : !pact.real<["c"]>
  %n = pact.neg %w : (!pact.real<["c"]>) -> !pact.real<["c"]>
  // expected-error @+1 {{has offsets that are no pact.input [F11]}}
  %i = pact.segment %n over "a" : (!pact.real<["c"]>) -> !pact.real<["a"]>
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %o = pact.input "o" : !pact.real<["b", "c"]>
  // expected-error @+1 {{has the offsets "o" with dims ["b", "c"]; offsets have one dim, which is not "a" [F11]}}
  %i = pact.segment %o over "a" : (!pact.real<["b", "c"]>) -> !pact.real<["a"]>
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %o = pact.input "o" : !pact.real<["a"]>
  // expected-error @+1 {{has the offsets "o" with dims ["a"]; offsets have one dim, which is not "a" [F11]}}
  %i = pact.segment %o over "a" : (!pact.real<["a"]>) -> !pact.real<["a"]>
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %o = pact.input "o" : !pact.real<["c"]>
  // expected-error @+1 {{has the offsets "o", which something other than a pact.segment reads [F11]}}
  %i = pact.segment %o over "a" : (!pact.real<["c"]>) -> !pact.real<["a"]>
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
  pact.output "z" %o : !pact.real<["c"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %o = pact.input "o" : !pact.real<["c"]>
  // expected-error @+1 {{is used by something other than the position of a pact.take [F11]}}
  %i = pact.segment %o over "a" : (!pact.real<["c"]>) -> !pact.real<["a"]>
  pact.output "y" %i : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %o = pact.input "o" : !pact.real<["c"]>
  // expected-error @+1 {{dimension "d" is unknown; the operator's dims are ["a", "b", "c"] [F2]}}
  %i = pact.segment %o over "d" : (!pact.real<["c"]>) -> !pact.real<["a"]>
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %o = pact.input "o" : !pact.real<["c"]>
  // expected-error @+1 {{result has dims ["a", "b"] but its operands give ["a"] [F3]}}
  %i = pact.segment %o over "a" : (!pact.real<["c"]>) -> !pact.real<["a", "b"]>
  %t = pact.take %x over "b" at %i : (!pact.real<["a", "b"]>, !pact.real<["a", "b"]>) -> !pact.real<["a"]>
  pact.output "y" %t : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b", "c"] {
  %x = pact.input "x" : !pact.real<["a"]>
  %o = pact.input "o" : !pact.real<["c"]>
  // expected-error @+1 {{has a result that nothing uses [F6]}}
  %i = pact.segment %o over "a" : (!pact.real<["c"]>) -> !pact.real<["a"]>
  pact.output "y" %x : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  // expected-error @+1 {{has a result that nothing uses [F6]}}
  %i = pact.index "i" : !pact.real<["a"]>
  %x = pact.input "x" : !pact.real<["a"]>
  pact.output "y" %x : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  // expected-note @+1 {{first here}}
  %m = pact.reduce "m" max over "b" (%x) site "s" : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{site "s" is empty or named twice [F4]}}
  %n = pact.neg %m site "s" : (!pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %n : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  // expected-error @+2 {{node "m" is empty or named twice [F4]}}
  // expected-note @+1 {{first here}}
  %m = pact.reduce "m" max over "b" (%x) site "m" : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  pact.output "y" %m : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a"] {
  %x = pact.input "x" : !pact.real<["a"]>
  // expected-note @+1 {{first here}}
  %n = pact.apply "exp" (%x) rounded "s" : (!pact.real<["a"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{site "s" is empty or named twice [F4]}}
  %m = pact.neg %n site "s" : (!pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %m : !pact.real<["a"]>
}

// -----

pact.operator @f version 1 dims ["a", "b"] {
  %x = pact.input "x" : !pact.real<["a", "b"]>
  %m = pact.reduce "m" max over "b" (%x) site "s" : (!pact.real<["a", "b"]>) -> !pact.real<["a"]>
  // expected-error @+1 {{kind exp_sum takes the exact max, and site "s" may round it [S1]}}
  %l = pact.reduce "l" exp_sum over "b" (%x, %m) : (!pact.real<["a", "b"]>, !pact.real<["a"]>) -> !pact.real<["a"]>
  pact.output "y" %l : !pact.real<["a"]>
}
