// Decimal.cpp - decimal to binary through llvm::APFloat
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Decimal.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"

using namespace bitpact;

std::optional<llvm::APFloat>
reader::parseDecimal(llvm::StringRef text, const llvm::fltSemantics &format,
                     std::string &reason) {
  // Longer numbers say nothing more, and cost quadratic time.
  constexpr size_t maxLength = 100;
  static const llvm::Regex syntax(
      "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,6})?$");
  if (text.size() > maxLength || !syntax.match(text)) {
    reason = "is no decimal number";
    return std::nullopt;
  }
  llvm::APFloat value(format);
  auto status =
      value.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    reason = "is no decimal number";
    return std::nullopt;
  }
  if (value.isInfinity()) {
    reason = "is too large for its format";
    return std::nullopt;
  }
  return value;
}
