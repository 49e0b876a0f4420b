// Canonical.h - a bound contract as canonical JSON
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_CANONICAL_H
#define BITPACT_COMPILER_READER_CANONICAL_H

#include "dialects/Pact/Pact.h"

#include <nlohmann/json.hpp>

namespace bitpact::reader {

/// The contract with its operator and definitions as lists of operations: what
/// the reference evaluator reads and packages keep. The module verifies.
nlohmann::json canonicalContract(pact::ContractOp contract,
                                 mlir::ModuleOp module);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_CANONICAL_H
