// CanonicalJson.cpp - the one text of a JSON value, and its SHA-256
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/CanonicalJson.h"

#include "contracts/algebra/RuleError.h"

#include <mbedtls/sha256.h>

#include <stdexcept>

namespace bitpact::algebra {
namespace {

void refuseFractions(const nlohmann::json &value, const std::string &where) {
  if (value.is_number_float())
    throw RuleError("C4",
                    "number " + value.dump() +
                        " is no integer; reals are written as strings",
                    where);
  if (value.is_structured())
    for (const auto &[key, inner] : value.items())
      refuseFractions(inner, where.empty() ? key : where + "." + key);
}

} // namespace

std::string canonicalText(const nlohmann::json &value) {
  refuseFractions(value, "");
  try {
    // Objects are sorted by key already, as std::string compares: bytewise.
    return value.dump(-1, ' ', /*ensure_ascii=*/false,
                      nlohmann::json::error_handler_t::strict);
  } catch (const nlohmann::json::exception &) {
    throw RuleError("C1", "a string is not UTF-8");
  }
}

std::string sha256Hex(std::string_view bytes) {
  unsigned char hash[32];
  if (mbedtls_sha256_ret(reinterpret_cast<const unsigned char *>(bytes.data()),
                         bytes.size(), hash, /*is224=*/0) != 0)
    throw std::logic_error("SHA-256 failed");
  constexpr char hex[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : hash) {
    text += hex[byte >> 4];
    text += hex[byte & 15];
  }
  return text;
}

} // namespace bitpact::algebra
