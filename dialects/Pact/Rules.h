// Rules.h - rules D, PI, T, P, R, A: does a contract bind its operator
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_RULES_H
#define BITPACT_DIALECTS_PACT_RULES_H

#include "dialects/Pact/Pact.h"

namespace bitpact::pact {

/// Begins an error at a field of the contract, given as a path of keys. The
/// last key may be absent from the contract; then its parent is the place. A
/// path that ends in "" asks for the place of the key instead of its value.
using ReportField = llvm::function_ref<mlir::InFlightDiagnostic(
    llvm::ArrayRef<llvm::StringRef>)>;
/// The primitive or atom of a name, or null.
using FindDefinition = llvm::function_ref<mlir::Operation *(llvm::StringRef)>;

/// Reports every breach, not only the first. The reader calls this with the
/// places in the contract file, the verifier of `pact.contract` with the op's.
mlir::LogicalResult checkContract(ContractOp contract, OperatorOp op,
                                  FindDefinition find, ReportField report);

/// The format of a value whose operands have these formats, rule E1. Null types
/// are extents and constants, which take the format of the operation.
mlir::Type elementwiseFormat(llvm::ArrayRef<mlir::Type> operands,
                             mlir::MLIRContext *context);

/// The name of a format as contract files write it, or "" if it is none.
llvm::StringRef formatName(mlir::Type type);
/// The type of a format's name (bf16, f16, f32, f64, i32, i64), or null.
mlir::Type formatType(llvm::StringRef name, mlir::MLIRContext *context);

} // namespace bitpact::pact

#endif // BITPACT_DIALECTS_PACT_RULES_H
