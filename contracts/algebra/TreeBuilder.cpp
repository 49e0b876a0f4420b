// TreeBuilder.cpp - the tree that a partition and a merge order declare
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/TreeBuilder.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace bitpact::algebra {
namespace {

/// By block number, empty ones left out.
template <class Part> using Parts = std::map<int64_t, Part>;

/// Merges all parts as a form says; `two` merges a lower and a higher one.
template <class Part, class Two>
Part mergeAll(Form form, int64_t radix, Parts<Part> parts, Two two) {
  auto pairUp = [&](auto &&numberOf) {
    Parts<Part> next;
    for (auto &[block, part] : parts) {
      auto [at, isNew] = next.emplace(numberOf(block), part);
      if (!isNew)
        at->second = two(at->second, part);
    }
    parts = std::move(next);
  };
  switch (form) {
  case Form::Pairwise:
    // Bit by bit from the lowest: neighbours, then neighbours of those.
    while (parts.size() > 1)
      pairUp([](int64_t block) { return block / 2; });
    break;
  case Form::Halving:
    // Bit by bit from the highest: block j meets block j + m/2.
    for (int64_t half = radix / 2; half > 0; half /= 2)
      pairUp([&](int64_t block) { return block % half; });
    break;
  default: // Fold; chains and atoms are below every merge of partials.
    pairUp([](int64_t) { return 0; });
  }
  return parts.begin()->second;
}

/// Builds from the outermost merge inwards: the elements of a part are split by
/// the outermost digit that is left, which gives the parts of that merge.
class Builder {
public:
  Builder(TreeStore &store, const Reduction &reduction,
          const std::vector<std::vector<int64_t>> &digits)
      : store(store), reduction(reduction),
        entries(reduction.order.bind(reduction.partition)),
        accumulator(accumulatorEntries(entries)), states(stateEntries(entries)),
        digits(digits) {}

  TreeId build(const std::vector<int64_t> &positions) {
    int all = static_cast<int>(entries.size());
    if (reduction.state == State::Online)
      return stateOf(all, positions).sum;
    if (reduction.state == State::TwoPass)
      bound = store.bound(std::nullopt, positions);
    return partial(all, positions);
  }

private:
  TreeStore &store;
  const Reduction &reduction;
  std::vector<BoundMerge> entries;
  int accumulator; // leading entries that form one accumulator
  StateEntries states;
  const std::vector<std::vector<int64_t>> &digits;
  std::optional<TreeId> bound; // under which elements are weighted

  std::map<int64_t, std::vector<int64_t>>
  split(int level, const std::vector<int64_t> &positions) const {
    std::map<int64_t, std::vector<int64_t>> blocks;
    for (int64_t position : positions)
      blocks[digits[position][entries[level].digit]].push_back(position);
    return blocks;
  }

  /// The complete partial of elements that differ only in the digits of the
  /// first `levels` entries.
  TreeId partial(int levels, const std::vector<int64_t> &positions) {
    if (levels == accumulator) {
      std::optional<TreeId> state;
      visit(levels, positions, state);
      return *state;
    }
    const BoundMerge &entry = entries[levels - 1];
    Parts<TreeId> parts;
    for (const auto &[block, inside] : split(levels - 1, positions)) {
      TreeId part = partial(levels - 1, inside);
      parts[block] = entry.from ? rounded(*entry.from, part) : part;
    }
    return merge(entry, std::move(parts));
  }

  /// Takes the elements into one accumulator, outermost digit of the run first.
  void visit(int levels, const std::vector<int64_t> &positions,
             std::optional<TreeId> &state) {
    if (levels == 0) {
      for (int64_t position : positions) // one: every digit is fixed
        take(store.leaf(position), state);
    } else if (entries[levels - 1].form == Form::Fused) {
      std::vector<TreeId> leaves;
      for (int64_t position : positions)
        leaves.push_back(store.leaf(position));
      state = store.fused(*entries[levels - 1].atom,
                          state ? *state : store.identity(), leaves);
    } else {
      for (const auto &[block, inside] : split(levels - 1, positions))
        visit(levels - 1, inside, state);
    }
  }

  void take(TreeId leaf, std::optional<TreeId> &state) {
    if (bound)
      leaf = store.weight(leaf, *bound);
    if (!state && reduction.start == Start::First)
      state = store.first(leaf);
    else
      state = store.step(state ? *state : store.identity(), leaf);
  }

  /// Rounding to a format that contains the accumulator's changes nothing.
  TreeId rounded(Format format, TreeId part) {
    return widensExactly(reduction.accumulator, format)
               ? part
               : store.round(format, part);
  }

  TreeId mergeTwo(const BoundMerge &entry, TreeId low, TreeId high) {
    TreeId merged = store.merge(low, high);
    return entry.in ? rounded(*entry.in, merged) : merged;
  }

  int64_t radix(const BoundMerge &entry) const {
    return reduction.partition.digits()[entry.digit].radix;
  }

  TreeId merge(const BoundMerge &entry, Parts<TreeId> parts) {
    if (entry.form != Form::Any)
      return mergeAll(
          entry.form, radix(entry), std::move(parts),
          [&](TreeId a, TreeId b) { return mergeTwo(entry, a, b); });
    std::vector<TreeId> all;
    for (auto [block, part] : parts)
      all.push_back(part);
    TreeId merged = store.any(all);
    return entry.in && all.size() > 1 ? rounded(*entry.in, merged) : merged;
  }

  /// A sum and the maximum under which its elements are weighted.
  struct SumAndBound {
    TreeId sum, bound;
    std::vector<int64_t> positions;
  };

  /// The state of elements that differ only in the first `levels` entries.
  SumAndBound stateOf(int levels, const std::vector<int64_t> &positions) {
    if (levels == states.merge)
      return carried(positions);
    const BoundMerge &entry = entries[levels - 1];
    Parts<SumAndBound> parts;
    for (const auto &[block, inside] : split(levels - 1, positions)) {
      SumAndBound part = stateOf(levels - 1, inside);
      if (entry.from)
        part.sum = rounded(*entry.from, part.sum);
      parts.emplace(block, std::move(part));
    }
    return mergeAll(
        entry.form, radix(entry), std::move(parts),
        [&](const SumAndBound &a, const SumAndBound &b) {
          SumAndBound both{0, store.bound(a.bound, b.positions), a.positions};
          both.positions.insert(both.positions.end(), b.positions.begin(),
                                b.positions.end());
          both.sum = store.combine(a.sum, a.bound, b.sum, b.bound, both.bound);
          if (entry.in)
            both.sum = rounded(*entry.in, both.sum);
          return both;
        });
  }

  using Accumulators = std::map<std::vector<int64_t>, std::optional<TreeId>>;

  /// The state of elements that share a running maximum: the carries, then the
  /// plain merges of their accumulators.
  SumAndBound carried(const std::vector<int64_t> &positions) {
    Accumulators accumulators;
    bound.reset();
    carry(states.plain, positions, accumulators);
    return {joined(states.merge, positions, accumulators), *bound, positions};
  }

  /// One step a block of the innermost carry, the outermost digit first.
  void carry(int levels, const std::vector<int64_t> &positions,
             Accumulators &accumulators) {
    if (levels > states.carry) {
      for (const auto &[block, inside] : split(levels - 1, positions))
        carry(levels - 1, inside, accumulators);
      return;
    }
    std::optional<TreeId> before = bound;
    bound = store.bound(before, positions);
    for (auto &[key, sum] : accumulators)
      sum = store.rescale(*sum, *before, *bound);
    std::map<std::vector<int64_t>, std::vector<int64_t>> inside;
    for (int64_t position : positions)
      inside[keyOf(position)].push_back(position);
    for (const auto &[key, elements] : inside) {
      std::optional<TreeId> &sum = accumulators[key];
      if (accumulator == states.carry) {
        visit(states.carry, elements, sum);
        continue;
      }
      TreeId part = partial(states.carry, elements);
      sum = sum ? store.merge(*sum, part) : part;
    }
  }

  /// An element's blocks of the plain merges: which accumulator takes it.
  std::vector<int64_t> keyOf(int64_t position) const {
    std::vector<int64_t> key;
    for (int i = states.plain; i < states.merge; ++i)
      key.push_back(digits[position][entries[i].digit]);
    return key;
  }

  TreeId joined(int levels, const std::vector<int64_t> &positions,
                const Accumulators &accumulators) {
    if (levels == states.plain)
      return *accumulators.at(keyOf(positions[0]));
    const BoundMerge &entry = entries[levels - 1];
    Parts<TreeId> parts;
    for (const auto &[block, inside] : split(levels - 1, positions)) {
      TreeId part = joined(levels - 1, inside, accumulators);
      parts[block] = entry.from ? rounded(*entry.from, part) : part;
    }
    return merge(entry, std::move(parts));
  }
};

} // namespace

std::optional<TreeId> buildTree(TreeStore &store, const Reduction &reduction,
                                const Elements &elements) {
  reduction.validate();
  reduction.partition.validate(elements.extent);
  if (reduction.partition.offsetsDigit())
    checkOffsets(elements.offsets, elements.extent);
  if (!elements.present.empty() &&
      static_cast<int64_t>(elements.present.size()) != elements.extent)
    throw std::invalid_argument("the mask must have one entry an element");

  std::vector<std::vector<int64_t>> digits(elements.extent);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < elements.extent; ++i) {
    if (!elements.present.empty() && !elements.present[i])
      continue;
    positions.push_back(i);
    digits[i] = reduction.partition.digitsOf(i, elements.offsets);
  }
  if (positions.empty())
    return std::nullopt;
  return Builder(store, reduction, digits).build(positions);
}

std::optional<Elements> firstDifference(const Reduction &a, const Reduction &b,
                                        const std::vector<Elements> &elements) {
  for (const Elements &each : elements) {
    TreeStore store;
    if (buildTree(store, a, each) != buildTree(store, b, each))
      return each;
  }
  return std::nullopt;
}

} // namespace bitpact::algebra
