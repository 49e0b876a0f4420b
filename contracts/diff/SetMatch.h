// SetMatch.h - which contracts of two sets belong together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_SETMATCH_H
#define BITPACT_DIFF_SETMATCH_H

#include "contracts/diff/ModelSet.h"

#include <optional>
#include <string>
#include <vector>

namespace bitpact::diff {

struct SetMember {
  /// Of a model set; empty elsewhere.
  std::string site;
  std::string name, op, digest;
};

/// Indices of members; one side is missing where a contract stands alone.
struct SetPair {
  std::optional<size_t> a, b;
};

/// By site where both have sites; else by name, then what has one digest, then
/// what is the only one left of its operator on both sides.
std::vector<SetPair> matchSets(const std::vector<SetMember> &a,
                               const std::vector<SetMember> &b);

/// A connection or a cut in which two model sets differ.
struct ModelChange {
  std::string what, before, after;
};
std::vector<ModelChange> compareModels(const ModelSet &a, const ModelSet &b);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_SETMATCH_H
