// PactAttributes.td - attributes of the Pact dialect
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACTATTRIBUTES_TD
#define BITPACT_DIALECTS_PACT_PACTATTRIBUTES_TD

include "dialects/Pact/PactBase.td"

class Pact_Attr<string name, string attrMnemonic>
    : AttrDef<Pact_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Pact_PartitionAttr : Pact_Attr<"Partition", "partition"> {
  let summary = "nested digits that cut a reduction axis";
  let description = [{
    The field Π of a contract. The text is that of the contract file and is
    parsed by the algebra, which also owns the rules PI1 to PI7.

    Example:

    ```mlir
    #pact.partition<"sweep:* lane:512 pack:8">
    ```
  }];
  let parameters = (ins AttrParameter<"::bitpact::algebra::Partition",
      "parsed digits", "const ::bitpact::algebra::Partition &">:$value);
}

def Pact_MergeAttr : Pact_Attr<"Merge", "merge"> {
  let summary = "which digit is merged when, and how; innermost first";
  let description = [{
    The field T of a contract, parsed by the algebra (rules T1 to T8, S2 to
    S5).

    Example:

    ```mlir
    #pact.merge<["pack chain", "sweep chain", "lane halving"]>
    ```
  }];
  let parameters = (ins AttrParameter<"::bitpact::algebra::MergeOrder",
      "parsed entries", "const ::bitpact::algebra::MergeOrder &">:$value);
}

def Pact_NodeAttr : Pact_Attr<"Node", "node"> {
  let summary = "the contract of one reduction";
  let description = [{
    Domain, Π, T, start and P of one node. `product` is "exact", a format, or
    absent where the reduction has no product; `offsets` names the i32 tensor
    that cuts a `@offsets` digit; `state` says how an `exp_sum` meets its
    maximum. Where a dim is stored with padding, `extent` of its `stored`
    positions exist for the node (rule D4); both are 0 where all do.

    Example:

    ```mlir
    #pact.node<domain "hidden" partition "sweep:* lane:512 pack:8"
               merge ["pack chain", "sweep chain", "lane halving"]
               start identity product "exact" accumulator f32>
    #pact.node<domain "vocab" extent 151936 stored 152064
               partition "sweep:* lane:512 pack:16"
               merge ["pack chain", "sweep carry", "lane halving merge"]
               start identity state online accumulator f32>
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$domain,
    "::bitpact::pact::PartitionAttr":$partition,
    "::bitpact::pact::MergeAttr":$merge,
    AttrParameter<"::bitpact::algebra::Start", "how a chain begins">:$start,
    "::mlir::Type":$accumulator,
    OptionalParameter<"::mlir::StringAttr">:$product,
    OptionalParameter<"::mlir::StringAttr">:$offsets,
    AttrParameter<"::bitpact::algebra::State",
                  "how an exp_sum meets its maximum">:$state,
    AttrParameter<"int64_t", "positions that exist, or 0">:$extent,
    AttrParameter<"int64_t", "positions that are stored, or 0">:$stored
  );
  let extraClassDeclaration = [{
    /// Positions that exist where `dim` are stored.
    int64_t extentOf(int64_t dim) const {
      return getExtent() ? getExtent() : dim;
    }
  }];
}

def Pact_RoundingAttr : Pact_Attr<"Rounding", "rounding"> {
  let summary = "how a site rounds its value, or that it does not";
  let description = [{
    The field R of a contract at one site: a format and a mode (`rne` is the
    only one), or `exact`, where the consumer takes the unrounded product.

    Example:

    ```mlir
    #pact.rounding<f32 rne>
    #pact.rounding<exact>
    ```
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::Type">:$format,
    OptionalParameter<"::mlir::StringAttr">:$mode
  );
  let extraClassDeclaration = [{
    bool isExact() const { return !getFormat(); }
  }];
  let genVerifyDecl = 1;
}

#endif
