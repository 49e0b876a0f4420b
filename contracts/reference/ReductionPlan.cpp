// ReductionPlan.cpp - the visit order and merges of a reduction over one extent
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/ReductionPlan.h"

#include "contracts/reference/DotAtom.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bitpact::reference {

using algebra::BoundMerge;
using algebra::Form;
using algebra::ReductionKind;

/// Fills in a plan. An element's key is its block numbers in merge order, the
/// outermost merge first. Sorted by key, the elements of one part are adjacent
/// at every level, and a chain's elements are in the order of its visit.
class Planner {
public:
  Planner(ReductionPlan &plan, const algebra::Reduction &reduction,
          int64_t extent, const std::vector<int64_t> &offsets)
      : plan(plan), partition(reduction.partition), offsets(offsets),
        entries(reduction.order.bind(reduction.partition)),
        levels(static_cast<int>(entries.size())),
        keys(static_cast<size_t>(extent) * entries.size()) {
    keyOfDigit.resize(levels);
    for (int i = 0; i < levels; ++i)
      keyOfDigit[entries[i].digit] = levels - 1 - i;
    std::vector<int64_t> blocks(levels);
    cut(0, 0, extent, blocks);
    plan.order.resize(extent);
    std::iota(plan.order.begin(), plan.order.end(), 0);
    std::sort(plan.order.begin(), plan.order.end(), [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(key(a), key(a) + levels, key(b),
                                          key(b) + levels);
    });
    planChains();
    for (int level = algebra::accumulatorEntries(entries); level < levels;
         ++level)
      planLevel(level);
    plan.root = parts.at(0).slot;
  }

private:
  /// A partial: the slot that holds it and one of its elements.
  struct Part {
    int64_t slot, element;
  };
  using Parts = std::vector<Part>;

  ReductionPlan &plan;
  const algebra::Partition &partition;
  const std::vector<int64_t> &offsets;
  std::vector<BoundMerge> entries;
  int levels;
  std::vector<int64_t> keys;
  std::vector<int> keyOfDigit;
  Parts parts; // of the level that is planned next

  const int64_t *key(int64_t element) const {
    return keys.data() + element * levels;
  }

  /// Cuts [begin, end) by digit and writes the keys of its elements.
  void cut(int digit, int64_t begin, int64_t end,
           std::vector<int64_t> &blocks) {
    if (digit == levels) {
      std::copy(blocks.begin(), blocks.end(), keys.begin() + begin * levels);
      return;
    }
    int64_t &block = blocks[keyOfDigit[digit]];
    if (partition.digits()[digit].kind == algebra::DigitKind::Offsets) {
      for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        block = static_cast<int64_t>(i);
        int64_t low = std::max(begin, offsets[i]);
        int64_t high = std::min(end, offsets[i + 1]);
        if (low < high)
          cut(digit + 1, low, high, blocks);
      }
      return;
    }
    int64_t length = partition.length(digit);
    int64_t number = 0;
    for (int64_t low = begin; low < end; ++number) {
      block = number;
      int64_t high = end - low > length ? low + length : end;
      cut(digit + 1, low, high, blocks);
      low = high;
    }
  }

  /// Whether two elements share the first `count` numbers of their keys.
  bool together(int64_t a, int64_t b, int count) const {
    return std::equal(key(a), key(a) + count, key(b));
  }

  void planChains() {
    int inside = algebra::accumulatorEntries(entries);
    bool fused = entries[0].form == Form::Fused;
    const std::vector<int64_t> &order = plan.order;
    int64_t count = static_cast<int64_t>(order.size());
    for (int64_t i = 0; i < count; ++i) {
      if (i == 0 || !together(order[i - 1], order[i], levels - inside)) {
        parts.push_back({static_cast<int64_t>(plan.chains.size()), order[i]});
        plan.chains.push_back(
            {i, i, static_cast<int64_t>(plan.atomEnds.size())});
      }
      plan.chains.back().end = i + 1;
      bool atomEnds =
          i + 1 == count || !together(order[i], order[i + 1], levels - 1);
      if (fused && atomEnds)
        plan.atomEnds.push_back(i + 1);
    }
  }

  /// Merges the parts of one entry; each group becomes a part of the next.
  void planLevel(int level) {
    int outer = levels - 1 - level; // numbers that a group shares
    Parts next;
    for (size_t begin = 0; begin < parts.size();) {
      size_t end = begin;
      while (end < parts.size() &&
             together(parts[begin].element, parts[end].element, outer))
        ++end;
      Parts group(parts.begin() + begin, parts.begin() + end);
      next.push_back({merged(level, group), group[0].element});
      begin = end;
    }
    parts = std::move(next);
  }

  int64_t merged(int level, const Parts &group) {
    const BoundMerge &entry = entries[level];
    if (entry.from)
      for (const Part &part : group)
        plan.merges.push_back({part.slot, -1, entry.from});
    switch (entry.form) {
    case Form::Pairwise: // the last merge is between the highest bit's halves
      return byBit(level, group, 62, -1, entry.in);
    case Form::Halving: // the last merge is between even and odd
      return byBit(level, group, 0, 1, entry.in);
    default: {
      bool any = entry.form == Form::Any;
      for (size_t i = 1; i < group.size(); ++i)
        merge(group[0].slot, group[i].slot,
              any && i + 1 < group.size() ? std::nullopt : entry.in);
      return group[0].slot;
    }
    }
  }

  /// Splits by a bit of the block number, merges each side by the next bits,
  /// then both. A side without parts is skipped.
  int64_t byBit(int level, const Parts &group, int bit, int direction,
                std::optional<Format> in) {
    if (group.size() == 1)
      return group[0].slot;
    Parts side[2];
    for (const Part &part : group)
      side[key(part.element)[levels - 1 - level] >> bit & 1].push_back(part);
    int next = bit + direction;
    if (side[0].empty() || side[1].empty())
      return byBit(level, side[side[0].empty()], next, direction, in);
    int64_t into = byBit(level, side[0], next, direction, in);
    merge(into, byBit(level, side[1], next, direction, in), in);
    return into;
  }

  void merge(int64_t into, int64_t from, std::optional<Format> in) {
    plan.merges.push_back({into, from, in});
  }
};

ReductionPlan::ReductionPlan(const algebra::Reduction &reduction,
                             int64_t extent,
                             const std::vector<int64_t> &offsets)
    : kind(reduction.kind), start(reduction.start),
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
  for (int64_t block = chain.firstAtom; i < chain.end; ++block) {
    scratch.left.clear();
    scratch.right.clear();
    for (; i < atomEnds[block]; ++i) {
      scratch.left.push_back(left.base[order[i] * left.stride]);
      scratch.right.push_back(right.base[order[i] * right.stride]);
    }
    state = dotNvStep(*atom, step.arguments[0], scratch.left.data(),
                      scratch.right.data(),
                      static_cast<int>(scratch.left.size()), state);
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
