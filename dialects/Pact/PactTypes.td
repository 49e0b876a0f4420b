// PactTypes.td - types of the Pact dialect
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACTTYPES_TD
#define BITPACT_DIALECTS_PACT_PACTTYPES_TD

include "dialects/Pact/PactBase.td"

def Pact_RealType : TypeDef<Pact_Dialect, "Real"> {
  let mnemonic = "real";
  let summary = "a real-valued function over named dimensions";
  let description = [{
    The value of an operator's body: one real number for every point of the
    dimensions. It has no format; a contract gives it one. Dimensions are
    distinct [F1] and stand in the order of the operator [F2].

    Example:

    ```mlir
    !pact.real<["tokens", "hidden"]>
    !pact.real<[]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif
