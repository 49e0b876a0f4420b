// ContractOp.cpp - the verifier of pact.contract, which asks Rules
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Rules.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace bitpact::pact;

template <typename AttrType>
static LogicalResult checkValues(ContractOp op, StringRef field,
                                 DictionaryAttr values, StringRef expected) {
  for (NamedAttribute entry : values)
    if (!isa<AttrType>(entry.getValue()))
      return op.emitOpError()
             << field << " '" << entry.getName().getValue() << "' must be "
             << expected << ", not " << entry.getValue() << " [C4]";
  return success();
}

LogicalResult ContractOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(checkValues<NodeAttr>(*this, "nodes", getNodes(),
                                   "a #pact.node attribute")) ||
      failed(checkValues<RoundingAttr>(*this, "rounding", getRounding(),
                                       "a #pact.rounding attribute")) ||
      failed(checkValues<FlatSymbolRefAttr>(*this, "primitives",
                                            getPrimitives(), "a symbol")))
    return failure();
  auto op = symbols.lookupNearestSymbolFrom<OperatorOp>(*this, getOpAttr());
  if (!op)
    return emitOpError() << "operator '" << getOp() << "' is unknown [C7]";
  auto find = [&](StringRef name) -> Operation * {
    Operation *definition = symbols.lookupNearestSymbolFrom(
        *this, StringAttr::get(getContext(), name));
    return isa_and_nonnull<PrimitiveOp, AtomOp>(definition) ? definition
                                                            : nullptr;
  };
  return checkContract(*this, op, find,
                       [&](ArrayRef<StringRef>) { return emitOpError(); });
}
