// TileUnits.cpp - parts of sums that several units compute
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileUnits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace bitpact;
using namespace bitpact::lowering;

/// Appends the trees of so many chains of which the tree is made; false if there
/// are others.
static bool cut(const PartTree &tree, size_t count,
                std::vector<const PartTree *> &trees) {
  size_t own = chainsOf(tree).size();
  if (own == count)
    return trees.push_back(&tree), true;
  return own > count && cut(*tree.left, count, trees) &&
         cut(*tree.right, count, trees);
}

static int64_t firstOf(const PartTree *tree) {
  int64_t first = chainsOf(*tree).front()->first;
  for (const PartTree *chain : chainsOf(*tree))
    first = std::min(first, chain->first);
  return first;
}

/// Whether `other` is the same, so many elements further on.
static bool alike(const PartTree &tree, const PartTree &other, int64_t apart,
                  int64_t stage) {
  if (tree.isChain() != other.isChain() || tree.roundings != other.roundings)
    return false;
  auto stages = [&](const PartTree &chain) {
    return (chain.end - chain.first + stage - 1) / stage;
  };
  if (tree.isChain())
    return other.first == tree.first + apart && stages(other) == stages(tree);
  return alike(*tree.left, *other.left, apart, stage) &&
         alike(*tree.right, *other.right, apart, stage);
}

llvm::Expected<UnitParts> lowering::unitParts(const PartTree &tree,
                                              int64_t units, int64_t stage) {
  std::vector<const PartTree *> chains = chainsOf(tree), brought;
  if (int64_t(chains.size()) % units)
    return llvm::createStringError(
        llvm::formatv("schedule: split is {0}; {0} units cannot divide {1} "
                      "part{2} evenly",
                      units, chains.size(), chains.size() == 1 ? "" : "s"));
  size_t each = chains.size() / size_t(units);
  if (!cut(tree, each, brought))
    brought = chains;
  llvm::sort(brought, [](const PartTree *a, const PartTree *b) {
    return firstOf(a) < firstOf(b);
  });
  size_t values = brought.size() / size_t(units);
  UnitParts parts;
  parts.own.assign(brought.begin(), brought.begin() + ptrdiff_t(values));
  parts.apart = firstOf(brought[values]) - firstOf(brought.front());
  for (auto [i, other] : llvm::enumerate(brought)) {
    int64_t unit = int64_t(i / values);
    if (!alike(*parts.own[i % values], *other, unit * parts.apart, stage))
      return llvm::createStringError(
          llvm::formatv("schedule: split is {0}; parts of unit {1} are not "
                        "those of unit 0, {2} elements further on",
                        units, unit, unit * parts.apart));
    parts.numbers[other] = i;
  }
  return parts;
}

std::vector<unsigned> lowering::slotBits(const UnitParts &parts,
                                         unsigned accumulator) {
  std::vector<unsigned> slots;
  auto atLeast = [&](size_t slot, unsigned bits) {
    slots.resize(std::max(slots.size(), slot + 1));
    slots[slot] = std::max(slots[slot], bits);
  };
  for (auto [i, tree] : llvm::enumerate(parts.own)) {
    for (auto [slot, bits] : llvm::enumerate(slotBits(*tree, accumulator)))
      atLeast(i + slot, bits);
    // It waits for the values that the unit brings beside it.
    if (i + 1 < parts.own.size())
      atLeast(i, bitsOf(*tree, accumulator));
  }
  return slots;
}

std::vector<unsigned> lowering::broughtBits(pact::ContractOp contract,
                                            pact::OperatorOp op, int64_t units,
                                            int64_t stage) {
  std::vector<unsigned> bits;
  std::optional<FixedParts> fixed = fixedParts(contract, op, stage);
  if (!fixed)
    return bits;
  llvm::Expected<UnitParts> parts = unitParts(fixed->tree, units, stage);
  if (!parts)
    return llvm::consumeError(parts.takeError()), bits;
  for (const PartTree *own : parts->own)
    bits.push_back(bitsOf(*own, fixed->accumulator));
  return bits;
}
