// TileParts.cpp - sums whose parts are complete before they meet
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileUnits.h"

#include "dialects/Pact/Rules.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

namespace {

/// Parts are written out one after the other.
constexpr int64_t kMostParts = 16;

/// The parts of a block that hold an element, by number.
using Parts = std::map<int64_t, PartTree>;

class TreeOfParts {
public:
  explicit TreeOfParts(pact::NodeAttr node)
      : partition(node.getPartition().getValue()),
        entries(node.getMerge().getValue().bind(partition)),
        accumulator(*algebra::parseFormat(
            pact::formatName(node.getAccumulator()).str())) {}

  PartTree build(size_t levels, int64_t first, int64_t end) {
    if (levels == size_t(algebra::accumulatorEntries(entries))) {
      PartTree chain;
      chain.first = first;
      chain.end = end;
      return chain;
    }
    const algebra::BoundMerge &entry = entries[levels - 1];
    int64_t length = partition.length(entry.digit);
    Parts parts;
    for (int64_t at = first; at < end; at += length) {
      PartTree part = build(levels - 1, at, std::min(at + length, end));
      round(part, entry.from);
      parts.emplace((at - first) / length, std::move(part));
    }
    return merged(entry, std::move(parts));
  }
  PartTree build(int64_t extent) { return build(entries.size(), 0, extent); }

private:
  void round(PartTree &part, std::optional<algebra::Format> format) {
    if (format && !algebra::widensExactly(accumulator, *format))
      part.roundings.push_back(*format);
  }

  PartTree merged(const algebra::BoundMerge &entry, Parts parts) {
    auto two = [&](PartTree left, PartTree right) {
      PartTree both;
      both.left = std::make_unique<PartTree>(std::move(left));
      both.right = std::make_unique<PartTree>(std::move(right));
      round(both, entry.in);
      return both;
    };
    // Parts of one remainder, or of one quotient, meet; a missing one is skipped.
    auto meet = [&](auto numberOf) {
      Parts next;
      for (auto &[number, part] : parts) {
        auto at = next.find(numberOf(number));
        if (at == next.end())
          next.emplace(numberOf(number), std::move(part));
        else
          at->second = two(std::move(at->second), std::move(part));
      }
      parts = std::move(next);
    };
    switch (entry.form) {
    case algebra::Form::Pairwise:
      while (parts.size() > 1)
        meet([](int64_t number) { return number / 2; });
      break;
    case algebra::Form::Halving:
      for (int64_t half = partition.digits()[entry.digit].radix / 2; half;
           half /= 2)
        meet([&](int64_t number) { return number % half; });
      break;
    default: // fold
      meet([](int64_t) { return 0; });
    }
    return std::move(parts.begin()->second);
  }

  const algebra::Partition &partition;
  std::vector<algebra::BoundMerge> entries;
  algebra::Format accumulator;
};

void collect(const PartTree &tree, std::vector<const PartTree *> &chains) {
  if (tree.isChain())
    return chains.push_back(&tree);
  collect(*tree.left, chains);
  collect(*tree.right, chains);
}

void widen(const PartTree &tree, size_t slot, unsigned accumulator,
           std::vector<unsigned> &slots) {
  if (tree.isChain())
    return;
  slots.resize(std::max(slots.size(), slot + 1));
  slots[slot] = std::max(slots[slot], bitsOf(*tree.left, accumulator));
  widen(*tree.left, slot, accumulator, slots);
  widen(*tree.right, slot + 1, accumulator, slots);
}

} // namespace

PartTree lowering::partsOf(pact::NodeAttr node, int64_t extent) {
  return TreeOfParts(node).build(extent);
}

std::vector<const PartTree *> lowering::chainsOf(const PartTree &tree) {
  std::vector<const PartTree *> chains;
  collect(tree, chains);
  return chains;
}

unsigned lowering::bitsOf(const PartTree &tree, unsigned accumulator) {
  return tree.roundings.empty()
             ? accumulator
             : unsigned(8 * algebra::bytes(tree.roundings.back()));
}

std::vector<unsigned> lowering::slotBits(const PartTree &tree,
                                         unsigned accumulator) {
  std::vector<unsigned> slots;
  widen(tree, 0, accumulator, slots);
  return slots;
}

std::optional<FixedParts> lowering::fixedParts(pact::ContractOp contract,
                                               pact::OperatorOp op,
                                               int64_t stage) {
  pact::ReduceOp reduce = *op.getOps<pact::ReduceOp>().begin();
  auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
  auto extent = contract.getDims().getAs<IntegerAttr>(reduce.getOver());
  llvm::Error none = checkParts(reduce.getNode(), node, extent, stage);
  if (none || !extent || extent.getInt() == ShapedType::kDynamic)
    return llvm::consumeError(std::move(none)), std::nullopt;
  return FixedParts{partsOf(node, extent.getInt()),
                    node.getAccumulator().getIntOrFloatBitWidth()};
}

std::vector<unsigned> lowering::slotBits(pact::ContractOp contract,
                                         pact::OperatorOp op, int64_t units,
                                         int64_t stage) {
  std::optional<FixedParts> fixed = fixedParts(contract, op, 1);
  if (!fixed)
    return {};
  if (units == 1)
    return slotBits(fixed->tree, fixed->accumulator);
  llvm::Expected<UnitParts> parts = unitParts(fixed->tree, units, stage);
  if (!parts)
    return llvm::consumeError(parts.takeError()), std::vector<unsigned>();
  return slotBits(*parts, fixed->accumulator);
}

llvm::Error lowering::checkParts(StringRef node, pact::NodeAttr attr,
                                 IntegerAttr extent, int64_t stage) {
  auto refusal = [&](auto &&...args) {
    return llvm::createStringError(llvm::formatv(args...).str());
  };
  const algebra::Partition &partition = attr.getPartition().getValue();
  std::vector<algebra::BoundMerge> entries =
      attr.getMerge().getValue().bind(partition);
  size_t chains = size_t(algebra::accumulatorEntries(entries));
  if (chains == entries.size())
    return llvm::Error::success();
  const algebra::Digit &digit = partition.digits()[entries[chains].digit];
  if (!extent || extent.getInt() == ShapedType::kDynamic)
    return refusal("node {0}: merge: '{1} {2}' over a dim of any extent; tiles "
                   "have parts of a dim that the contract fixes",
                   node, digit.name, algebra::name(entries[chains].form));
  for (const algebra::BoundMerge &entry :
       llvm::drop_begin(ArrayRef(entries), chains)) {
    int64_t length = partition.length(entry.digit);
    const std::string &name = partition.digits()[entry.digit].name;
    if (length == 0)
      return refusal("node {0}: partition: '{1}' has blocks between offsets; "
                     "tiles take digits with a radix or '*'",
                     node, name);
    if (extent.getInt() > length && length % stage)
      return refusal("node {0}: partition: blocks of '{1}' have {2} elements, "
                     "which stages of {3} do not divide",
                     node, name, length, stage);
    if (int64_t parts = (extent.getInt() - 1) / length + 1; parts > kMostParts)
      return refusal("node {0}: partition: '{1}' and the digits left of it cut "
                     "{2} parts; tiles compute up to {3}",
                     node, name, parts, kMostParts);
  }
  return llvm::Error::success();
}
