// Signature.cpp - the arguments that every kernel of an operator has
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/Signature.h"

#include "codegen/Lowering/RowContext.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

ArrayAttr Signature::slots(MLIRContext *context) const {
  SmallVector<StringRef> all(names.begin(), names.end());
  return Builder(context).getStrArrayAttr(all);
}

void Signature::addTo(Block &entry, Location loc) const {
  entry.addArguments(types, SmallVector<Location>(types.size(), loc));
}

Signature lowering::signatureOf(pact::ContractOp contract,
                                pact::OperatorOp op) {
  Signature signature;
  MLIRContext *context = op.getContext();
  Type wide = IntegerType::get(context, 64);
  std::map<std::string, pact::RealType> tensors = tensorTypes(op);
  for (Operation &each : op.getBody().front()) {
    std::optional<StringRef> tensor =
        llvm::TypeSwitch<Operation *, std::optional<StringRef>>(&each)
            .Case<pact::InputOp, pact::IndexOp, pact::OutputOp>(
                [](auto named) { return named.getTensor(); })
            .Default(std::nullopt);
    if (!tensor)
      continue;
    Type element = cast<TypeAttr>(contract.getTypes().get(*tensor)).getValue();
    signature.add(kernel::BufferType::get(context, element), *tensor);
    size_t rank = tensors.at(tensor->str()).getDims().size();
    for (size_t axis = 0; axis + 1 < rank; ++axis)
      signature.add(wide, (*tensor + ":" + Twine(axis)).str());
  }
  for (Attribute dim : op.getDims())
    signature.add(wide, cast<StringAttr>(dim).getValue());
  return signature;
}
