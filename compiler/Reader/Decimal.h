// Decimal.h - a decimal number, rounded once to a format
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_READER_DECIMAL_H
#define BITPACT_COMPILER_READER_DECIMAL_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace bitpact::reader {

/// Rounds to nearest even, straight from the text. On failure `reason`
/// completes "the number …, which".
std::optional<llvm::APFloat> parseDecimal(llvm::StringRef text,
                                          const llvm::fltSemantics &format,
                                          std::string &reason);

} // namespace bitpact::reader

#endif // BITPACT_COMPILER_READER_DECIMAL_H
