// StatePlan.cpp - an exp_sum whose maximum runs, over one extent
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/StatePlan.h"

#include "contracts/reference/BlockTable.h"

#include <limits>
#include <map>
#include <span>

namespace bitpact::reference {

using algebra::BoundMerge;
using algebra::Form;

/// Fills in a plan. Entries fall into four groups: below the carries, the
/// carries, plain merges of accumulators that share a maximum, merges of
/// states. Elements are sorted by state, then by step of the carries, then by
/// accumulator, then as the entries below the carries visit them.
class StatePlanner {
public:
  StatePlanner(StatePlan &plan, const algebra::Reduction &reduction,
               int64_t extent, const std::vector<int64_t> &offsets)
      : plan(plan), entries(reduction.order.bind(reduction.partition)),
        table(reduction.partition, extent, offsets) {
    auto [carry, plain, merge] = algebra::stateEntries(entries);
    int count = static_cast<int>(entries.size());
    inside = digits(0, carry);
    state = digits(merge, count);
    step = joined(state, digits(carry, plain));
    accumulator = joined(step, digits(plain, merge));
    chained = algebra::accumulatorEntries(entries) == carry;
    plan.order = table.sorted(joined(accumulator, inside));
    for (auto [begin, end] : runs(0, extent, state))
      planState(begin, end, plain, merge);
    // What is left of every state is one sum.
    for (int level = merge; level < count; ++level)
      complete = mergeParts(
          table, entries[level], digits(level + 1, count), complete,
          [&](int64_t into, int64_t from, std::optional<Format> format) {
            if (from < 0)
              return act({Kind::Round, into, 0, 0, 0, 0, 0, false, format});
            act({Kind::Combine, into, from, stateOf[into], stateOf[from], 0, 0,
                 false, format});
          });
    plan.root = complete.at(0).slot;
  }

private:
  using Kind = StatePlan::ActionKind;

  StatePlan &plan;
  std::vector<BoundMerge> entries;
  BlockTable table;
  /// Digits, outermost first: of a state, of a step in it, of an accumulator
  /// in that, and what is left inside.
  std::vector<int> state, step, accumulator, inside;
  bool chained = false; // below the carries there are chains alone
  std::vector<Part> complete;
  std::map<int64_t, int64_t> stateOf; // by the slot of its one sum

  std::vector<int> digits(int begin, int end) const {
    std::vector<int> result;
    for (int i = end; i > begin; --i)
      result.push_back(entries[i - 1].digit);
    return result;
  }

  static std::vector<int> joined(std::vector<int> a,
                                 const std::vector<int> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  /// The runs of order[begin, end) that lie together in these digits.
  std::vector<std::pair<int64_t, int64_t>>
  runs(int64_t begin, int64_t end, const std::vector<int> &together) const {
    std::vector<std::pair<int64_t, int64_t>> result;
    for (int64_t i = begin; i < end; ++i) {
      if (i == begin ||
          !table.together(plan.order[i - 1], plan.order[i], together))
        result.push_back({i, i});
      result.back().second = i + 1;
    }
    return result;
  }

  void act(const StatePlan::Action &action) { plan.actions.push_back(action); }

  void planState(int64_t begin, int64_t end, int plain, int merge) {
    int64_t number = plan.states++;
    // Accumulators by the blocks of the plain merges, as they come to exist.
    std::map<std::vector<int64_t>, Part> accumulators;
    std::vector<int> plainDigits = digits(plain, merge);
    bool fresh = true;
    for (auto [from, to] : runs(begin, end, step)) {
      act({Kind::Maximum, 0, 0, number, 0, from, to, fresh, {}});
      fresh = false;
      for (auto &[blocks, part] : accumulators)
        act({Kind::Rescale, part.slot, 0, number, 0, 0, 0, false, {}});
      for (auto [low, high] : runs(from, to, accumulator)) {
        std::vector<int64_t> blocks;
        for (int digit : plainDigits)
          blocks.push_back(table.block(plan.order[low], digit));
        take(low, high, number, accumulators, blocks);
      }
    }
    std::vector<Part> parts;
    for (auto &[blocks, part] : accumulators)
      parts.push_back(part);
    for (int level = plain; level < merge; ++level)
      parts = mergeParts(
          table, entries[level], digits(level + 1, merge), parts,
          [&](int64_t into, int64_t from, std::optional<Format> format) {
            act({from < 0 ? Kind::Round : Kind::Add, into, from, number, 0, 0,
                 0, false, format});
          });
    complete.push_back(parts.at(0));
    stateOf[parts.at(0).slot] = number;
  }

  /// Takes the elements of one step into one accumulator.
  void take(int64_t low, int64_t high, int64_t number,
            std::map<std::vector<int64_t>, Part> &accumulators,
            const std::vector<int64_t> &blocks) {
    auto found = accumulators.find(blocks);
    bool exists = found != accumulators.end();
    if (chained) {
      Part part = exists ? found->second : Part{plan.sums++, plan.order[low]};
      act({Kind::Chain, part.slot, 0, number, 0, low, high, !exists, {}});
      accumulators.emplace(blocks, part);
      return;
    }
    Part partial = partialOf(low, high, number);
    if (exists)
      act({Kind::Add, found->second.slot, partial.slot, 0, 0, 0, 0, false, {}});
    else
      accumulators.emplace(blocks, partial);
  }

  /// The complete partial of the elements of one step and one accumulator.
  Part partialOf(int64_t low, int64_t high, int64_t number) {
    int chains = algebra::accumulatorEntries(entries);
    int carry = static_cast<int>(inside.size());
    std::vector<Part> parts;
    for (auto [begin, end] : runs(low, high, digits(chains, carry))) {
      parts.push_back({plan.sums++, plan.order[begin]});
      act({Kind::Chain, parts.back().slot, 0, number, 0, begin, end, true, {}});
    }
    for (int level = chains; level < carry; ++level)
      parts = mergeParts(
          table, entries[level], digits(level + 1, carry), parts,
          [&](int64_t into, int64_t from, std::optional<Format> format) {
            act({from < 0 ? Kind::Round : Kind::Add, into, from, number, 0, 0,
                 0, false, format});
          });
    return parts.at(0);
  }
};

StatePlan::StatePlan(const algebra::Reduction &reduction, int64_t extent,
                     const std::vector<int64_t> &offsets)
    : start(reduction.start), accumulator(reduction.accumulator) {
  reduction.validate();
  reduction.partition.validate(extent);
  if (reduction.partition.offsetsDigit())
    algebra::checkOffsets(offsets, extent);
  StatePlanner(*this, reduction, extent, offsets);
}

double StatePlan::evaluate(const Functions &functions, ReductionPlan::Operand x,
                           Scratch &scratch) const {
  std::vector<double> &sum = scratch.sums, &max = scratch.maxima,
                      &before = scratch.before;
  sum.resize(sums);
  max.resize(states);
  before.resize(states);
  auto call = [&](const Primitive &primitive,
                  std::initializer_list<double> arguments) {
    if (scratch.registers.size() < primitive.registers())
      scratch.registers.resize(primitive.registers());
    Register *file = scratch.registers.data();
    for (double argument : arguments)
      (file++)->real = argument;
    return primitive.run(scratch.registers.data());
  };
  auto element = [&](int64_t i) { return x.base[order[i] * x.stride]; };
  for (const Action &a : actions) {
    double &into = sum[a.into];
    switch (a.kind) {
    case ActionKind::Maximum:
      before[a.state] = max[a.state];
      if (a.fresh)
        max[a.state] = -std::numeric_limits<double>::infinity();
      for (int64_t i = a.begin; i < a.end; ++i)
        max[a.state] = maximum(max[a.state], element(i));
      break;
    case ActionKind::Rescale: {
      double factor = call(*functions.rescale, {before[a.state], max[a.state]});
      into = withFormat(accumulator,
                        [&]<Format F>() { return mul<F>(into, factor); });
      break;
    }
    case ActionKind::Chain: {
      int64_t i = a.begin;
      if (a.fresh)
        into = start == algebra::Start::First
                   ? call(*functions.weight, {element(i++), max[a.state]})
                   : 0;
      for (; i < a.end; ++i) {
        double weight = call(*functions.weight, {element(i), max[a.state]});
        into = call(*functions.step, {weight, into});
      }
      break;
    }
    case ActionKind::Add:
      into = withFormat(accumulator,
                        [&]<Format F>() { return add<F>(into, sum[a.from]); });
      break;
    case ActionKind::Combine: {
      double left = max[a.state], right = max[a.other];
      double met = maximum(left, right);
      double byLeft = call(*functions.rescale, {left, met});
      double byRight = call(*functions.rescale, {right, met});
      into = call(*functions.combine, {into, byLeft, sum[a.from], byRight});
      max[a.state] = met;
      break;
    }
    case ActionKind::Round:
      break;
    }
    if (a.format && !algebra::widensExactly(accumulator, *a.format))
      into = roundTo(*a.format, into);
  }
  return sum[root];
}

} // namespace bitpact::reference
