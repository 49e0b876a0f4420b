// States.h - contracts of an exp_sum, with primitives that a hand can follow
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_TESTS_UNIT_REFERENCE_STATES_H
#define BITPACT_TESTS_UNIT_REFERENCE_STATES_H

#include "tests/unit/reference/Contracts.h"

namespace bitpact::tests {

/// The exp_sum of a contract whose weights are x / m, or 1 where x is m: a
/// function of ratios, so that every rescale rounds and a hand can follow.
struct StateText {
  std::string partition = "k:*";
  std::vector<std::string> merge = {"k chain"};
  std::string state = "online";
  std::string start = "identity";
  std::string weight = "ratio.f32";
  std::string combine = "combine.mul_add.f32";
  std::string input = "f32";
  /// Positions that exist of those that are stored; 0: all.
  int64_t extent = 0, stored = 0;
};

/// l[rows] = exp_sum over `vocab` of x[rows, vocab] under their maximum, which
/// is the output m. The maximum has a tree of its own.
nlohmann::json stateContract(const StateText &text);

/// The same with t[rows] = x[rows, at[rows]], an index of the format `index`,
/// and n[rows] = the extent times one.
nlohmann::json takeContract(const StateText &text, const std::string &index);

/// l of one row.
double stateRow(const StateText &text, const std::vector<double> &row);

} // namespace bitpact::tests

#endif // BITPACT_TESTS_UNIT_REFERENCE_STATES_H
