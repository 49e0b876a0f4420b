// Pact.h - the Pact dialect: types, attributes and ops
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACT_H
#define BITPACT_DIALECTS_PACT_PACT_H

#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/Partition.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Pact/PactDialect.h.inc"
#include "dialects/Pact/PactEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Pact/PactTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Pact/PactAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Pact/PactOps.h.inc"

namespace bitpact::pact {
/// Every primitive site that a node may have: its step's, and of an `exp_sum`
/// the weight's, the rescale's and the combine's.
llvm::SmallVector<std::string> primitiveSites(ReduceOp reduce);
} // namespace bitpact::pact

#endif // BITPACT_DIALECTS_PACT_PACT_H
