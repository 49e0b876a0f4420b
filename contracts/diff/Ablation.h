// Ablation.h - what each step from one contract to another does to results
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_ABLATION_H
#define BITPACT_DIFF_ABLATION_H

#include "contracts/diff/ContractPair.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::diff {

/// One contract against the baseline, on given tensors.
struct AblationResult {
  std::map<std::string, TensorComparison> outputs;
  /// The first node, site or output that differs, as they are computed.
  std::optional<Parting> first;
  /// Its outputs have the bytes of the goal.
  bool reachesGoal = false;
  int64_t elements() const;
  int64_t differing() const;
  UlpHistogram histogram() const;
};

/// The baseline's values on one input, kept for all that is compared to them.
class Ablation {
public:
  /// `inputs` are the baseline's. Throws std::invalid_argument, naming the
  /// tensor, for what does not fit it.
  Ablation(const nlohmann::json &baseline, const nlohmann::json &goal,
           const reference::Evaluator::Tensors &inputs);

  /// A contract that takes other types gets the inputs rounded to them, and one
  /// with larger extents gets zeros where the baseline has no element.
  AblationResult run(const nlohmann::json &canonical) const;

private:
  reference::Evaluator::Tensors namedOf(const nlohmann::json &canonical) const;

  reference::OperatorProgram program;
  reference::Evaluator::Tensors inputs, baseline, goal;
};

} // namespace bitpact::diff

#endif // BITPACT_DIFF_ABLATION_H
