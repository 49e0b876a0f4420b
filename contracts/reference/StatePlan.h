// StatePlan.h - an exp_sum whose maximum runs, over one extent
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_STATEPLAN_H
#define BITPACT_REFERENCE_STATEPLAN_H

#include "contracts/algebra/TreeBuilder.h"
#include "contracts/reference/Primitive.h"
#include "contracts/reference/ReductionPlan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bitpact::reference {

/// Planned once an extent as a list of actions on sums and maxima, then carried
/// out once a row. Which elements exist is known when it is planned, so no
/// action ever meets an empty side.
class StatePlan {
public:
  /// Throws RuleError and std::invalid_argument as buildTree does.
  StatePlan(const algebra::Reduction &reduction, int64_t extent,
            const std::vector<int64_t> &offsets = {});

  /// The primitives of the node; a combine only where states meet.
  struct Functions {
    const Primitive *step = nullptr, *weight = nullptr, *rescale = nullptr,
                    *combine = nullptr;
  };

  /// What an evaluation writes into; one a thread.
  struct Scratch {
    std::vector<double> sums, maxima, before;
    std::vector<Register> registers;
  };

  double evaluate(const Functions &functions, ReductionPlan::Operand x,
                  Scratch &scratch) const;

private:
  enum class ActionKind : uint8_t {
    Maximum, ///< the maximum of `state` takes order[begin, end)
    Rescale, ///< sums[into], to the maximum that `state` has now
    Chain,   ///< sums[into] takes order[begin, end), weighted by `state`
    Add,     ///< sums[into] + sums[from]
    Combine, ///< sums[into] and `state` meet sums[from] and `other`
    Round    ///< sums[into], as after Add and Combine
  };
  struct Action {
    ActionKind kind;
    int64_t into = 0, from = 0, state = 0, other = 0;
    int64_t begin = 0, end = 0;
    bool fresh = false; ///< of Maximum and Chain: nothing was there before
    std::optional<Format> format{};
  };
  friend class StatePlanner;

  algebra::Start start;
  Format accumulator;
  std::vector<int64_t> order;
  std::vector<Action> actions;
  int64_t sums = 0, states = 0;
  int64_t root = 0;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_STATEPLAN_H
