// TreeBuilder.cpp - the tree that a partition and a merge order declare
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/TreeBuilder.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace bitpact::algebra {
namespace {

using Parts = std::map<int64_t, TreeId>; // by block number, empty ones left out

/// Builds from the outermost merge inwards: the elements of a part are split by
/// the outermost digit that is left, which gives the parts of that merge.
class Builder {
public:
  Builder(TreeStore &store, const Reduction &reduction,
          const std::vector<std::vector<int64_t>> &digits)
      : store(store), reduction(reduction),
        entries(reduction.order.bind(reduction.partition)),
        accumulator(accumulatorEntries(entries)), digits(digits) {}

  TreeId build(const std::vector<int64_t> &positions) {
    return partial(static_cast<int>(entries.size()), positions);
  }

private:
  TreeStore &store;
  const Reduction &reduction;
  std::vector<BoundMerge> entries;
  int accumulator; // leading entries that form one accumulator
  const std::vector<std::vector<int64_t>> &digits;

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
    Parts parts;
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

  TreeId merge(const BoundMerge &entry, Parts parts) {
    switch (entry.form) {
    case Form::Pairwise:
      // Bit by bit from the lowest: neighbours, then neighbours of those.
      while (parts.size() > 1) {
        Parts next;
        for (auto [block, part] : parts) {
          auto [at, isNew] = next.emplace(block / 2, part);
          if (!isNew)
            at->second = mergeTwo(entry, at->second, part);
        }
        parts = std::move(next);
      }
      return parts.begin()->second;
    case Form::Halving: {
      // Bit by bit from the highest: block j meets block j + m/2.
      int64_t radix = reduction.partition.digits()[entry.digit].radix;
      for (int64_t half = radix / 2; half > 0; half /= 2) {
        Parts next;
        for (auto [block, part] : parts) {
          auto [at, isNew] = next.emplace(block % half, part);
          if (!isNew)
            at->second = mergeTwo(entry, at->second, part);
        }
        parts = std::move(next);
      }
      return parts.begin()->second;
    }
    case Form::Any: {
      std::vector<TreeId> all;
      for (auto [block, part] : parts)
        all.push_back(part);
      TreeId merged = store.any(all);
      return entry.in && all.size() > 1 ? rounded(*entry.in, merged) : merged;
    }
    default: { // Fold; chains and atoms are below every merge of partials.
      auto it = parts.begin();
      TreeId result = it->second;
      while (++it != parts.end())
        result = mergeTwo(entry, result, it->second);
      return result;
    }
    }
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
