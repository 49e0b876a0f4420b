// Comparison.h - two sets of contracts side by side, for people and programs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_COMPARISON_H
#define BITPACT_TOOL_COMPARISON_H

#include "contracts/diff/Delta.h"
#include "contracts/diff/SetMatch.h"
#include "contracts/diff/Witness.h"
#include "tools/bitpact/ContractSource.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::tool {

struct ComparedPair {
  /// The site, or the name.
  std::string label;
  /// One side is missing where a contract stands alone.
  const SourcedContract *a = nullptr, *b = nullptr;
  /// Of pairs.
  diff::Delta delta{};
  std::optional<diff::WitnessSearch> witness{};

  bool whole() const { return a && b; }
};

/// Owns both sets; pairs point into them.
class Comparison {
public:
  Comparison(ContractSet a, ContractSet b);
  Comparison(const Comparison &) = delete;
  Comparison &operator=(const Comparison &) = delete;

  std::vector<ComparedPair> pairs;
  std::vector<diff::ModelChange> modelChanges;
  /// Two contracts, and not sets of them.
  bool single = false;

  /// 3 where functions differ, 1 where anything else does.
  int exitCode() const;
  /// "equal", "equivalent", "different" or "not comparable", of all.
  std::string_view verdict() const;
  void print() const;
  nlohmann::json toJson() const;

private:
  ContractSet left, right;
};

/// name (operator) digest
std::string headingOf(const SourcedContract &contract);
/// "different: 2 entries, Π T", "not comparable: …".
std::string verdictText(const diff::Delta &delta);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_COMPARISON_H
