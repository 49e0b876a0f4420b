// ReductionPlan.h - the visit order and merges of a reduction over one extent
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_REDUCTIONPLAN_H
#define BITPACT_REFERENCE_REDUCTIONPLAN_H

#include "contracts/algebra/TreeBuilder.h"
#include "contracts/reference/Primitive.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bitpact::reference {

/// Planned once an extent, then evaluated once a row. It is worked out from the
/// blocks of the partition, without the algebra's trees, so that each checks
/// the other. A two_pass exp_sum is planned as the sum of its weights.
class ReductionPlan {
public:
  /// Throws RuleError and std::invalid_argument as buildTree does.
  ReductionPlan(const algebra::Reduction &reduction, int64_t extent,
                const std::vector<int64_t> &offsets = {});

  /// What an evaluation writes into; one a thread.
  struct Scratch {
    std::vector<double> slots, left, right;
    std::vector<Register> registers;
  };

  /// Where an operand's element at a position lies.
  struct Operand {
    const double *base = nullptr;
    int64_t stride = 1;
  };

  /// The reduction's value for one row. `right` only matters to a dot.
  double evaluate(const Primitive &step, Operand left, Operand right,
                  Scratch &scratch) const;

private:
  /// An accumulator: visits order[begin, end), in atom steps that end at
  /// atomEnds[firstAtom, …) if there is an atom. Its result is the slot of the
  /// same number.
  struct Chain {
    int64_t begin, end;
    int64_t firstAtom;
  };
  /// slots[into] = slots[into] merged with slots[from], rounded to `format` if
  /// set; with `from` negative only the rounding.
  struct Merge {
    int64_t into, from;
    std::optional<Format> format;
  };
  friend class Planner;

  double chainOf(const Primitive &step, const Chain &chain, Operand left,
                 Operand right, Scratch &scratch) const;
  double atomChain(const Primitive &step, const Chain &chain, Operand left,
                   Operand right, Scratch &scratch) const;

  algebra::ReductionKind kind;
  algebra::Start start;
  Format accumulator;
  std::optional<algebra::Atom> atom;
  std::vector<int64_t> order;
  std::vector<int64_t> atomEnds;
  std::vector<Chain> chains;
  std::vector<Merge> merges;
  int64_t root = 0;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_REDUCTIONPLAN_H
