// ContractFile.h - a canonical contract as a contract file again, and patches
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_CONTRACTFILE_H
#define BITPACT_DIFF_CONTRACTFILE_H

#include <nlohmann/json.hpp>

namespace bitpact::diff {

/// The contract file that expands to this canonical form, without presets and
/// `extends`. Definitions are named, so it means the same where the library has
/// them. Throws RuleError for JSON that is no contract.
nlohmann::json contractFile(const nlohmann::json &canonical);

/// The JSON merge patch (RFC 7396) that turns `from` into `to`.
nlohmann::json mergePatch(const nlohmann::json &from, const nlohmann::json &to);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_CONTRACTFILE_H
