// Bind.h - an expanded contract becomes a pact.contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_BIND_H
#define BITPACT_COMPILER_READER_BIND_H

#include "compiler/Reader/Document.h"
#include "compiler/Reader/Library.h"

namespace bitpact::reader {

/// A module of the contract, its operator and the definitions it uses, checked
/// by every rule. Rules C7, D3, P1, R4 and A2, and the syntax rules of the
/// algebra, are reported here; the others come from dialects/Pact/Rules.h.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
bindContract(const Value &root, const Library &library,
             mlir::MLIRContext *context);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_BIND_H
