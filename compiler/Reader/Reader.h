// Reader.h - contract file and definitions become bound Pact IR
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_READER_H
#define BITPACT_COMPILER_READER_READER_H

#include "compiler/Reader/Library.h"

#include <nlohmann/json.hpp>

namespace bitpact::reader {

struct ReadResult {
  /// Exactly one contract, its operator, and the definitions it uses.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  nlohmann::json canonical;
  std::string digest;
};

/// Reads, expands, binds and checks a contract file. What its author got wrong
/// goes to the context's diagnostic engine, each with its place and rule.
mlir::FailureOr<ReadResult> readContract(llvm::StringRef path,
                                         const Library &library,
                                         mlir::MLIRContext *context);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_READER_H
