// Link.h - one relocatable to a shared object, with lld as a library
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_LINK_H
#define BITPACT_CODEGEN_TARGET_LINK_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::codegen {

/// Names an ELF relocatable wants from elsewhere.
std::vector<std::string> undefinedSymbols(llvm::StringRef object);

/// Links one relocatable into a shared object, in memory, for whatever machine
/// it is made for. `options` go to lld.
mlir::FailureOr<std::vector<uint8_t>>
linkShared(mlir::Location location, llvm::StringRef object,
           llvm::ArrayRef<const char *> options);

} // namespace bitpact::codegen

#endif
