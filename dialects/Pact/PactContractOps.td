// PactContractOps.td - the op that binds an operator, bit for bit
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACTCONTRACTOPS_TD
#define BITPACT_DIALECTS_PACT_PACTCONTRACTOPS_TD

include "dialects/Pact/PactBase.td"
include "dialects/Pact/PactAttributes.td"

def Pact_ContractOp : Pact_Op<"contract",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "binds every field of one operator";
  let description = [{
    Dims (`?` is any extent), tensor types, params in their own format, nodes,
    roundings and primitives, each keyed by the operator's name for it. The
    verifier checks the contract against its operator and the definitions it
    names, rules D, PI, T, P, R and A. The name is no symbol: a contract may be
    called like its operator.

    Example:

    ```mlir
    pact.contract "row_sum" of @sum dims {tokens = ?, hidden = 64}
      types {x = f32, y = f32} params {}
      nodes {sum = #pact.node<domain "hidden" partition "k:*"
                              merge ["k chain"] start first accumulator f32>}
      rounding {y = #pact.rounding<f32 rne>}
      primitives {"sum.step" = @"add.f32"}
    ```
  }];
  let arguments = (ins StrAttr:$contract_name, FlatSymbolRefAttr:$op,
                       DictionaryAttr:$dims, DictionaryAttr:$types,
                       DictionaryAttr:$params, DictionaryAttr:$nodes,
                       DictionaryAttr:$rounding, DictionaryAttr:$primitives,
                       OptionalAttr<StrAttr>:$digest, OptionalAttr<StrAttr>:$doc);
  let assemblyFormat = [{
    $contract_name `of` $op `dims` custom<Dims>($dims) `types` $types
    `params` $params `nodes` $nodes `rounding` $rounding
    `primitives` $primitives (`digest` $digest^)? (`doc` $doc^)? attr-dict
  }];
}

#endif
