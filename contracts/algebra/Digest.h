// Digest.h - what of a contract its digest covers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_DIGEST_H
#define BITPACT_ALGEBRA_DIGEST_H

#include <nlohmann/json.hpp>

#include <string>

namespace bitpact::algebra {

/// The part of a canonical contract that means something: without name, doc and
/// dims that no node reduces; digits renamed d0, d1, …; the primitive at each
/// site replaced by the SHA-256 of its definition. Throws RuleError.
nlohmann::json digestForm(const nlohmann::json &contract);

/// SHA-256 of the canonical text of the digest form.
std::string digest(const nlohmann::json &contract);

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_DIGEST_H
