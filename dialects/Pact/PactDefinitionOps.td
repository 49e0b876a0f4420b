// PactDefinitionOps.td - ops that define primitives and atoms
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACTDEFINITIONOPS_TD
#define BITPACT_DIALECTS_PACT_PACTDEFINITIONOPS_TD

include "dialects/Pact/PactBase.td"

def Pact_PrimitiveOp : Pact_Op<"primitive",
    [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "exact arithmetic as a straight list of IEEE operations";
  let description = [{
    A `function` maps values to a value. A `step` takes the terms of one
    element and then the accumulator, and returns the new accumulator; its
    reduction kind says where it fits, and a `dot` step says whether its
    product is `exact` or rounded to a format. The body holds only `pact.fma`,
    `pact.sqrt` and the arith operations that are exactly defined on all
    values, without fast-math flags [F8]. A step returns the type of its last
    argument, and takes two arguments (`dot`: three) [F9].

    Example:

    ```mlir
    pact.primitive @"rsqrt.div_sqrt.f32" function (%x: f32) -> f32 {
      %one = arith.constant 1.0 : f32
      %s = pact.sqrt %x : f32
      %r = arith.divf %one, %s : f32
      pact.yield %r : f32
    }
    pact.primitive @"dot.fma.f32" step dot product "exact"
        (%a: f32, %b: f32, %acc: f32) -> f32 {
      %r = pact.fma %a, %b, %acc : f32
      pact.yield %r : f32
    }
    ```
  }];
  let arguments = (ins Pact_Name:$sym_name, Pact_PrimitiveKind:$kind,
                       OptionalAttr<Pact_ReduceKind>:$reduction,
                       OptionalAttr<StrAttr>:$product,
                       TypeAttrOf<FunctionType>:$function_type);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Pact_YieldOp : Pact_Op<"yield",
    [Pure, Terminator, HasParent<"PrimitiveOp">]> {
  let summary = "the result of a primitive";
  let description = [{
    Example:

    ```mlir
    pact.yield %r : f32
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Pact_FmaOp : Pact_Op<"fma", [Pure, SameOperandsAndResultType]> {
  let summary = "a*b+c with one rounding, to nearest even";
  let description = [{
    IEEE 754 fusedMultiplyAdd: contraction that is asked for by name.

    Example:

    ```mlir
    %r = pact.fma %a, %b, %c : f32
    ```
  }];
  let arguments = (ins Pact_Float:$a, Pact_Float:$b, Pact_Float:$c);
  let results = (outs Pact_Float:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}

def Pact_SqrtOp : Pact_Op<"sqrt", [Pure, SameOperandsAndResultType]> {
  let summary = "IEEE square root, correctly rounded to nearest even";
  let description = [{
    Stands here because `math.sqrt` becomes an approximation on some targets.

    Example:

    ```mlir
    %r = pact.sqrt %x : f32
    ```
  }];
  let arguments = (ins Pact_Float:$operand);
  let results = (outs Pact_Float:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Pact_AtomOp : Pact_Op<"atom", [Symbol]> {
  let summary = "a fused step that a matrix unit executes";
  let description = [{
    A step that takes up to L terms at once and has no list of IEEE operations:
    `model` names the arithmetic, which the reference evaluator implements, L
    is the number of terms and F the fraction bits that survive alignment
    [F10].

    Example:

    ```mlir
    pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25
      : (bf16, bf16, f32) -> f32
    ```
  }];
  let arguments = (ins Pact_Name:$sym_name, Pact_ReduceKind:$reduction,
                       StrAttr:$product, StrAttr:$atom, I64Attr:$L, I64Attr:$F,
                       TypeAttrOf<FunctionType>:$function_type);
  let assemblyFormat = [{
    $sym_name $reduction `product` $product `model` $atom `L` $L `F` $F
    attr-dict `:` $function_type
  }];
  let hasVerifier = 1;
}

#endif
