// CanonicalJson.h - the one text of a JSON value, and its SHA-256
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_CANONICALJSON_H
#define BITPACT_ALGEBRA_CANONICALJSON_H

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace bitpact::algebra {

/// Keys sorted bytewise, no whitespace, UTF-8, numbers only as integers.
/// Throws RuleError C4 for a number with a fraction or exponent, C1 for a
/// string that is not UTF-8.
std::string canonicalText(const nlohmann::json &value);

/// 64 lower-case hexadecimal digits.
std::string sha256Hex(std::string_view bytes);

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_CANONICALJSON_H
