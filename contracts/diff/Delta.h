// Delta.h - ΔC: in which fields of which nodes two contracts differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_DELTA_H
#define BITPACT_DIFF_DELTA_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::diff {

/// The fields of the contract tuple: domain, partition, merge tree, precision,
/// rounding, primitives.
enum class Field : uint8_t { D, Pi, T, P, R, A };
/// "D", "Π", "T", "P", "R", "A".
std::string_view name(Field field);

struct Change {
  Field field;
  /// The node, site, tensor, param or dim.
  std::string node;
  /// Where it stands in canonical JSON: "nodes.sum_sq.partition".
  std::string path;
  /// Texts for people; "absent" where a side has nothing.
  std::string before, after;
  /// What is known about the trees: where they part, or that it is undecided.
  std::string note{};
};

/// Texts that differ and mean the same; `rule` says how that was decided.
struct Equivalence {
  std::string node, rule;
};

struct Delta {
  /// False: the two compute different functions, which `reason` names.
  bool comparable = true;
  std::string reason{};
  std::vector<Change> changes{};
  std::vector<Equivalence> equivalences{};

  /// "equal", "equivalent", "different" or "not comparable".
  std::string_view verdict() const;
};

/// Two contracts in canonical JSON. Throws algebra::RuleError for JSON that is
/// no contract.
Delta compare(const nlohmann::json &a, const nlohmann::json &b);

nlohmann::json toJson(const Delta &delta);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_DELTA_H
