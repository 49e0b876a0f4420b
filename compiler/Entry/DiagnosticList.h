// DiagnosticList.h - MLIR's diagnostics as the JSON of an answer
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_ENTRY_DIAGNOSTICLIST_H
#define BITPACT_COMPILER_ENTRY_DIAGNOSTICLIST_H

#include "mlir/IR/Diagnostics.h"

#include <nlohmann/json.hpp>

namespace bitpact::entry {

/// Collects what the context reports while it lives.
class DiagnosticList {
public:
  explicit DiagnosticList(mlir::MLIRContext *context);

  const nlohmann::json &list() const { return diagnostics; }

private:
  nlohmann::json diagnostics = nlohmann::json::array();
  mlir::ScopedDiagnosticHandler handler;
};

/// An error without a place.
nlohmann::json plainError(const std::string &message);

} // namespace bitpact::entry

#endif // BITPACT_COMPILER_ENTRY_DIAGNOSTICLIST_H
