// Structure.h - which keys a contract file has, and of which JSON type
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_STRUCTURE_H
#define BITPACT_COMPILER_READER_STRUCTURE_H

#include "compiler/Reader/Document.h"

namespace bitpact::reader {

/// Rules C2, C4 and C5 for one file. In a file that extends another, null
/// stands for a key to remove.
mlir::LogicalResult checkContractFile(const Value &root);
/// The same for a preset file.
mlir::LogicalResult checkPresetFile(const Value &root);
/// Rule C6 for a contract after expansion.
mlir::LogicalResult checkComplete(const Value &root);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_STRUCTURE_H
