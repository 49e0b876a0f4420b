// Evaluator.h - the oracle: what a contract's output bytes are
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_EVALUATOR_H
#define BITPACT_REFERENCE_EVALUATOR_H

#include "contracts/algebra/RuleError.h"
#include "contracts/reference/Tensor.h"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bitpact::reference {

struct OperatorProgram;

/// Evaluates one bound contract, given as canonical JSON. Immutable after
/// construction, so one evaluator may serve several threads.
class Evaluator {
public:
  /// Throws algebra::RuleError for JSON that is no well-formed contract.
  explicit Evaluator(const nlohmann::json &canonical);
  ~Evaluator();
  Evaluator(Evaluator &&) noexcept;
  Evaluator &operator=(Evaluator &&) noexcept;

  using Tensors = std::map<std::string, Tensor>;

  /// The outputs. Extents that the contract leaves open come from the shapes.
  /// Throws std::invalid_argument, naming the tensor, for a missing input or
  /// one whose format, shape or size does not fit. `threads` 0: as many as the
  /// machine has. The bytes do not depend on `threads`.
  Tensors run(const Tensors &inputs, unsigned threads = 0) const;

  /// The outputs, and under its name the value of every node and rounding
  /// site (but not of a site bound `exact`, which has no value of its own).
  Tensors runNamed(const Tensors &inputs, unsigned threads = 0) const;

  /// The dims over which nothing is reduced, in the operator's order. A place
  /// has one coordinate for each of them, and the outputs there depend on
  /// nothing else.
  std::vector<std::string> rowDims() const;
  using Place = std::vector<int64_t>;

  /// As run, but evaluates the outputs at these places alone; elements of
  /// others are 0. Throws std::out_of_range for a place that there is not.
  Tensors runAt(const Tensors &inputs, const std::vector<Place> &places,
                unsigned threads = 0) const;

private:
  std::unique_ptr<const OperatorProgram> program;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_EVALUATOR_H
