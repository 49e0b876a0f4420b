// Expand.h - extends and use: a contract in full
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_EXPAND_H
#define BITPACT_COMPILER_READER_EXPAND_H

#include "compiler/Reader/Document.h"
#include "compiler/Reader/Library.h"

namespace bitpact::reader {

/// The contract of a file with its `extends` chain merged and its presets
/// filled in. Rules C1 to C6, C8 and C9. Every value keeps the place where it
/// was written, in whichever file that is.
mlir::FailureOr<Value> expandContract(llvm::StringRef path,
                                      const Library &library,
                                      mlir::MLIRContext *context);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_EXPAND_H
