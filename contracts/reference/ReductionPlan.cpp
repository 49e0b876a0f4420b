// ReductionPlan.cpp - the visit order and merges of a reduction over one extent
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/ReductionPlan.h"

#include "contracts/reference/BlockTable.h"
#include "contracts/reference/DotAtom.h"

#include <limits>

namespace bitpact::reference {

using algebra::BoundMerge;
using algebra::Form;
using algebra::ReductionKind;

/// Fills in a plan. Elements are sorted by their blocks in merge order, the
/// outermost merge first: then those of one part are adjacent at every level,
/// and a chain's elements are in the order of its visit.
class Planner {
public:
  Planner(ReductionPlan &plan, const algebra::Reduction &reduction,
          int64_t extent, const std::vector<int64_t> &offsets)
      : plan(plan), entries(reduction.order.bind(reduction.partition)),
        table(reduction.partition, extent, offsets) {
    plan.order = table.sorted(outerDigits(0));
    std::vector<Part> parts = planChains();
    size_t inside = algebra::accumulatorEntries(entries);
    for (size_t level = inside; level < entries.size(); ++level)
      parts = mergeParts(
          table, entries[level], outerDigits(level + 1), parts,
          [&](int64_t into, int64_t from, std::optional<Format> format) {
            plan.merges.push_back({into, from, format});
          });
    plan.root = parts.at(0).slot;
  }

private:
  ReductionPlan &plan;
  std::vector<BoundMerge> entries;
  BlockTable table;

  /// The digits of the entries from `level` on, the outermost first.
  std::vector<int> outerDigits(size_t level) const {
    std::vector<int> digits;
    for (size_t i = entries.size(); i > level; --i)
      digits.push_back(entries[i - 1].digit);
    return digits;
  }

  std::vector<Part> planChains() {
    std::vector<Part> parts;
    std::vector<int> chain = outerDigits(algebra::accumulatorEntries(entries));
    std::vector<int> block = outerDigits(1);
    bool fused = entries[0].form == Form::Fused;
    const std::vector<int64_t> &order = plan.order;
    int64_t count = static_cast<int64_t>(order.size());
    for (int64_t i = 0; i < count; ++i) {
      if (i == 0 || !table.together(order[i - 1], order[i], chain)) {
        parts.push_back({static_cast<int64_t>(plan.chains.size()), order[i]});
        plan.chains.push_back(
            {i, i, static_cast<int64_t>(plan.atomEnds.size())});
      }
      plan.chains.back().end = i + 1;
      bool atomEnds =
          i + 1 == count || !table.together(order[i], order[i + 1], block);
      if (fused && atomEnds)
        plan.atomEnds.push_back(i + 1);
    }
    return parts;
  }
};

ReductionPlan::ReductionPlan(const algebra::Reduction &reduction,
                             int64_t extent,
                             const std::vector<int64_t> &offsets)
    : kind(algebra::stepKind(reduction.kind)), start(reduction.start),
      accumulator(reduction.accumulator) {
  reduction.validate();
  reduction.partition.validate(extent);
  if (reduction.partition.offsetsDigit())
    algebra::checkOffsets(offsets, extent);
  atom = reduction.order.entries()[0].atom;
  Planner(*this, reduction, extent, offsets);
}

double ReductionPlan::chainOf(const Primitive &step, const Chain &chain,
                              Operand left, Operand right,
                              Scratch &scratch) const {
  Register *file = scratch.registers.data();
  const bool dot = kind == ReductionKind::Dot;
  const int last = dot ? 2 : 1; // the accumulator's register
  int64_t i = chain.begin;
  double state =
      kind == ReductionKind::Max ? -std::numeric_limits<double>::infinity() : 0;
  if (start == algebra::Start::First) {
    int64_t at = order[i++];
    state = left.base[at * left.stride];
    // The first product alone, rounded as fma(a, b, -0) is.
    if (dot)
      state = product(accumulator, state, right.base[at * right.stride]);
  }
  for (; i < chain.end; ++i) {
    int64_t at = order[i];
    file[0].real = left.base[at * left.stride];
    if (dot)
      file[1].real = right.base[at * right.stride];
    file[last].real = state;
    state = step.run(file);
  }
  return state;
}

double ReductionPlan::atomChain(const Primitive &step, const Chain &chain,
                                Operand left, Operand right,
                                Scratch &scratch) const {
  double state = 0;
  int64_t i = chain.begin;
  const bool dense = left.stride == 1 && right.stride == 1;
  for (int64_t block = chain.firstAtom; i < chain.end; ++block) {
    const int64_t end = atomEnds[block];
    const int count = static_cast<int>(end - i);
    const double *a = left.base + order[i], *b = right.base + order[i];
    // Elements of a block ascend: so many apart, they are neighbours.
    if (!dense || order[end - 1] - order[i] != count - 1) {
      scratch.left.clear();
      scratch.right.clear();
      for (int64_t k = i; k < end; ++k) {
        scratch.left.push_back(left.base[order[k] * left.stride]);
        scratch.right.push_back(right.base[order[k] * right.stride]);
      }
      a = scratch.left.data();
      b = scratch.right.data();
    }
    state = dotStep(*atom, step.arguments[0], a, b, count, state);
    i = end;
  }
  return state;
}

double ReductionPlan::evaluate(const Primitive &step, Operand left,
                               Operand right, Scratch &scratch) const {
  scratch.slots.resize(chains.size());
  if (scratch.registers.size() < step.registers())
    scratch.registers.resize(step.registers());
  for (size_t i = 0; i < chains.size(); ++i)
    scratch.slots[i] = atom ? atomChain(step, chains[i], left, right, scratch)
                            : chainOf(step, chains[i], left, right, scratch);
  for (const Merge &merge : merges) {
    double &into = scratch.slots[merge.into];
    if (merge.from >= 0) {
      double from = scratch.slots[merge.from];
      into = kind == ReductionKind::Max
                 ? maximum(into, from)
                 : withFormat(accumulator,
                              [&]<Format F>() { return add<F>(into, from); });
    }
    if (merge.format && !algebra::widensExactly(accumulator, *merge.format))
      into = roundTo(*merge.format, into);
  }
  return scratch.slots[root];
}

} // namespace bitpact::reference
