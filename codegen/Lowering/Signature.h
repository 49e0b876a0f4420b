// Signature.h - the arguments that every kernel of an operator has
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_SIGNATURE_H
#define BITPACT_CODEGEN_LOWERING_SIGNATURE_H

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Pact/Pact.h"

#include <string>

namespace bitpact::lowering {

/// Arguments and the names of their slots (runtime/package/Format.h).
struct Signature {
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<std::string> names;

  void add(mlir::Type type, llvm::StringRef name) {
    types.push_back(type);
    names.push_back(name.str());
  }
  mlir::ArrayAttr slots(mlir::MLIRContext *context) const;
  void addTo(mlir::Block &entry, mlir::Location loc) const;
};

/// Each tensor with the strides of all its axes but the last, then the dims.
Signature signatureOf(pact::ContractOp contract, pact::OperatorOp op);

} // namespace bitpact::lowering

#endif // BITPACT_CODEGEN_LOWERING_SIGNATURE_H
