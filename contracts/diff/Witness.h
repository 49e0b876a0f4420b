// Witness.h - an input on which two contracts give different bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_WITNESS_H
#define BITPACT_DIFF_WITNESS_H

#include "contracts/diff/ContractPair.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bitpact::diff {

struct WitnessOptions {
  uint64_t seed = 1;
  /// Every kind of input is tried as often; each time with other values.
  int64_t rounds = 8;
  /// Elements of a batch, at most, unless one row has more.
  int64_t batchElements = 1 << 15;
  bool shrunk = true;
};

struct Witness {
  /// As each contract takes it: they differ only where types or extents do.
  reference::Evaluator::Tensors inputsA, inputsB;
  std::map<std::string, int64_t> extents;
  /// Differing elements of each output that has any.
  std::map<std::string, TensorComparison> outputs;
  /// The first of them, in the order of the operator.
  Parting output;
  /// The first input, node, site or output that differs.
  Parting first;
  std::string kind;
};

struct WitnessSearch {
  std::optional<Witness> found;
  uint64_t seed = 1;
  /// Inputs judged, each one row, by kind in the order tried.
  std::vector<std::pair<std::string, int64_t>> tried;
  int64_t total() const;
};

/// Searches by construction first. Every candidate is judged by the reference
/// evaluator on both contracts, so what is found is a witness. The same seed
/// finds the same one. Throws std::invalid_argument for contracts of different
/// operators and RuleError for what is no contract.
WitnessSearch findWitness(const nlohmann::json &a, const nlohmann::json &b,
                          const WitnessOptions &options = {});

} // namespace bitpact::diff

#endif // BITPACT_DIFF_WITNESS_H
