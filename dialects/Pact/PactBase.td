// PactBase.td - the Pact dialect and what its records share
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACTBASE_TD
#define BITPACT_DIALECTS_PACT_PACTBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pact_Dialect : Dialect {
  let name = "pact";
  let summary = "Operators, primitives and the contracts that bind them";
  let description = [{
    Two things that are kept apart. An *operator* states a real-valued function
    F over named dimensions, with named nodes (its reductions) and named sites;
    it never says how to round. A *contract* binds every dimension, type, node
    and site of one operator and so fixes one implementation of F, bit for bit;
    it never says what to compute. *Primitives* and *atoms* are the exact
    arithmetic that a contract may choose at a site.

    Every rule that a verifier enforces has an ID, cited in its message in
    brackets and listed in docs/spec.md.
  }];
  let cppNamespace = "::bitpact::pact";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

class Pact_Op<string mnemonic, list<Trait> traits = []>
    : Op<Pact_Dialect, mnemonic, traits>;

// MLIR reads the symbol @"" and has no way to print it.
def Pact_Name : ConfinedAttr<SymbolNameAttr, [
    AttrConstraint<CPred<"!::llvm::cast<::mlir::StringAttr>($_self).empty()">,
                   "that is not empty">]>;

// How a reduction meets its terms. The algebra knows steps only by name, so
// the enumeration lives here.
def Pact_ReduceKind : I32EnumAttr<"ReduceKind", "kind of reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Dot", 1, "dot">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"ExpSum", 3, "exp_sum">]> {
  let cppNamespace = "::bitpact::pact";
}

def Pact_PrimitiveKind : I32EnumAttr<"PrimitiveKind", "kind of primitive", [
    I32EnumAttrCase<"Function", 0, "function">,
    I32EnumAttrCase<"Step", 1, "step">]> {
  let cppNamespace = "::bitpact::pact";
}

// The formats in which a contract can hold a real value.
def Pact_Float : AnyTypeOf<[BF16, F16, F32, F64], "f64, f32, f16 or bf16">;

#endif
