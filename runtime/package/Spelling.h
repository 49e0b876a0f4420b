// Spelling.h - how names, hashes, paths and dates of a manifest are written
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_PACKAGE_SPELLING_H
#define BITPACT_RUNTIME_PACKAGE_SPELLING_H

#include "runtime/package/Format.h"

#include <fmt/format.h>

#include <string>

namespace bitpact::package {

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args &&...args) {
  throw FormatError(fmt::format(text, std::forward<Args>(args)...));
}

bool isFileName(const std::string &text);
// Names of tensors, dims and symbols.
bool isIdentifier(const std::string &text);
bool isDate(const std::string &text);

void checkIdentifier(const std::string &at, const std::string &text);
void checkHash(const std::string &at, const std::string &text);
// Two components, the first fixed: nothing in a package lies deeper, and no
// path leads out of it.
void checkPath(const std::string &at, const std::string &path,
               const std::string &folder);

} // namespace bitpact::package

#endif // BITPACT_RUNTIME_PACKAGE_SPELLING_H
