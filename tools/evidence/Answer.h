// Answer.h - what the outputs of a case must be, and where that is known
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ANSWER_H
#define BITPACT_EVIDENCE_ANSWER_H

#include "contracts/reference/Evaluator.h"
#include "tools/evidence/Check.h"
#include "tools/evidence/Places.h"
#include "tools/evidence/Shape.h"

#include <memory>
#include <optional>
#include <span>

namespace bitpact::evidence {

/// One (contract, recipe, seed, extents). The answer for many rows serves
/// fewer, as rows depend on themselves alone.
struct Answer {
  std::string recipe;
  uint64_t seed = 0;
  int64_t rows = 0;
  reference::Evaluator::Tensors inputs;
  /// The oracle's; of a sampled answer those of a launch, which is described.
  reference::Evaluator::Tensors outputs;
  std::string launch;
  /// Where a sampled answer has the oracle's outputs, `dims` names the axes.
  std::vector<std::string> dims;
  std::vector<Place> places;
  reference::Evaluator::Tensors atPlaces;
  /// Of the first rows a sampled answer may have all of the oracle's outputs.
  std::shared_ptr<const reference::Evaluator::Tensors> firstRows;

  bool isSampled() const { return !places.empty(); }
};

/// The first rows of an answer.
struct Case {
  const ContractSpec &contract;
  const Answer &answer;
  Dims dims;

  std::vector<int64_t> shape(const TensorSpec &tensor) const {
    return shapeOf(tensor, dims);
  }
  std::span<const uint8_t> bytes(const TensorSpec &tensor) const;
  /// Where the oracle's bytes and these differ: everywhere, or at the places of
  /// a sampled answer and in its first rows.
  std::optional<Difference> fromOracle(const TensorSpec &tensor,
                                       std::span<const uint8_t> actual) const;
};

/// Steps that the nodes take together: of a product, rows times columns times
/// what is reduced.
int64_t stepsOf(const ContractSpec &contract, const Dims &dims);

/// For each kind of data in one factor, the kind in the other one under which
/// it shows: a row of subnormals is nothing beside another one.
Recipe besides(Recipe recipe);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_ANSWER_H
