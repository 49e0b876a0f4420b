// DeclaredState.cpp - the terms of an online exp_sum
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/DeclaredState.h"

#include "compiler/Interpreter/Declared.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;
using TreeForm = algebra::Form;

DeclaredState::DeclaredState(TermStore &terms, const WholePrimitives &whole,
                             pact::NodeAttr node, Primitives primitives,
                             std::vector<TermId> elements, Scalar accumulator,
                             Scalar maximum)
    : terms(terms), whole(whole), node(node), primitives(primitives),
      elements(std::move(elements)), accumulator(accumulator), format(maximum) {
  const algebra::Partition &partition = node.getPartition().getValue();
  entries = node.getMerge().getValue().bind(partition);
  levels = algebra::stateEntries(entries);
  while (chains < levels.carry && entries[chains].form == TreeForm::Chain)
    ++chains;
  for (size_t i = 0; i < this->elements.size(); ++i)
    digits.push_back(partition.digitsOf(int64_t(i)));
  sizes.assign(size_t(partition.size()), 1);
  for (const std::vector<int64_t> &each : digits)
    for (auto [digit, size] : llvm::zip(each, sizes))
      size = std::max(size, digit + 1);
}

/// The place of a position in the order in which the digits that the entries
/// merge are visited, the last of them outermost.
int64_t DeclaredState::orderOf(int64_t position, int from, int to) const {
  int64_t key = 0;
  for (int entry = to; entry-- > from;) {
    int digit = entries[entry].digit;
    key = key * sizes[digit] + digits[position][digit];
  }
  return key;
}

TermId DeclaredState::sum() {
  Positions all(elements.size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = int64_t(i);
  return states(int(entries.size()), all).sum;
}

std::map<int64_t, DeclaredState::Positions>
DeclaredState::split(int entry, const Positions &of) const {
  std::map<int64_t, Positions> result;
  for (int64_t position : of)
    result[digits[position][entries[entry].digit]].push_back(position);
  return result;
}

TermId DeclaredState::apply(pact::PrimitiveOp primitive,
                            ArrayRef<TermId> arguments) {
  SmallVector<TermId> converted;
  for (auto [argument, type] :
       llvm::zip(arguments, primitive.getFunctionType().getInputs()))
    converted.push_back(convert(terms, argument, *scalarOf(type)));
  return applyPrimitive(terms, primitive, converted, whole);
}

TermId DeclaredState::rounded(TermId value, std::optional<algebra::Format> to) {
  if (!to)
    return value;
  return convert(terms, convert(terms, value, scalarOf(*to)), accumulator);
}

TermId DeclaredState::maximum(TermId a, TermId b) {
  return terms.apply({Op::Maximum, format, format}, {a, b});
}

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

DeclaredState::Part DeclaredState::meet(const algebra::BoundMerge &entry,
                                        const Part &left, const Part &right) {
  if (left.empty() || right.empty())
    return left.empty() ? right : left;
  if (!entry.merge)
    return {rounded(terms.apply({Op::Add, accumulator, accumulator},
                                {left.sum, right.sum}),
                    entry.in),
            -1};
  TermId most = maximum(left.most, right.most);
  TermId sum =
      apply(primitives.combine,
            {left.sum, apply(primitives.rescale, {left.most, most}), right.sum,
             apply(primitives.rescale, {right.most, most})});
  return {rounded(convert(terms, sum, accumulator), entry.in), most};
}

DeclaredState::Part DeclaredState::merged(const algebra::BoundMerge &entry,
                                          std::map<int64_t, Part> parts) {
  for (auto &[value, part] : parts)
    part.sum = rounded(part.sum, entry.from);
  if (entry.form == TreeForm::Fold) {
    Part result;
    for (auto &[value, part] : parts)
      result = meet(entry, result, part);
    return result;
  }
  int64_t count = parts.empty() ? 0 : parts.rbegin()->first + 1;
  if (entry.form == TreeForm::Halving) {
    const algebra::Partition &partition = node.getPartition().getValue();
    for (int64_t s = partition.digits()[entry.digit].radix / 2; s > 0; s /= 2)
      for (int64_t j = 0; j < s; ++j)
        parts[j] = meet(entry, parts[j], parts[j + s]);
  } else {
    for (int64_t s = 1; s < count; s *= 2)
      for (int64_t j = 0; j + s < count; j += 2 * s)
        parts[j] = meet(entry, parts[j], parts[j + s]);
  }
  return parts[0];
}

DeclaredState::Part DeclaredState::states(int level, const Positions &of) {
  if (level == levels.merge)
    return run(of);
  std::map<int64_t, Part> parts;
  for (auto &[value, positions] : split(level - 1, of))
    parts[value] = states(level - 1, positions);
  return merged(entries[level - 1], std::move(parts));
}

DeclaredState::Part
DeclaredState::partial(int level, int base, const Positions &of,
                       const std::function<Part(const Positions &)> &leaf) {
  if (level == base)
    return leaf(of);
  std::map<int64_t, Part> parts;
  for (auto &[value, positions] : split(level - 1, of))
    parts[value] = partial(level - 1, base, positions, leaf);
  return merged(entries[level - 1], std::move(parts));
}

//===----------------------------------------------------------------------===//
// One state
//===----------------------------------------------------------------------===//

/// The elements go on top of the accumulator in the order of the chain digits.
TermId DeclaredState::chain(TermId sum, const Positions &of, TermId most) {
  std::vector<std::pair<int64_t, int64_t>> order;
  for (int64_t position : of)
    order.emplace_back(orderOf(position, 0, chains), position);
  llvm::sort(order);
  for (auto &[key, position] : order) {
    TermId weight = apply(primitives.weight, {elements[position], most});
    if (sum < 0 && node.getStart() == algebra::Start::First) {
      sum = convert(terms, weight, accumulator);
      continue;
    }
    if (sum < 0)
      sum = terms.constant(accumulator, 0);
    sum = apply(primitives.step, {weight, sum});
  }
  return sum;
}

DeclaredState::Part DeclaredState::run(const Positions &of) {
  // Steps in the order of the carry digits.
  std::map<int64_t, Positions> steps;
  for (int64_t position : of)
    steps[orderOf(position, levels.carry, levels.plain)].push_back(position);
  auto accumulatorOf = [&](int64_t position) {
    return orderOf(position, levels.plain, levels.merge);
  };
  std::map<int64_t, TermId> accumulators;
  TermId most = -1;
  for (auto &[step, positions] : steps) {
    TermId before = most;
    for (int64_t position : positions) {
      TermId element = convert(terms, elements[position], format);
      most = most < 0 ? element : maximum(most, element);
    }
    if (before >= 0) {
      TermId factor = convert(terms, apply(primitives.rescale, {before, most}),
                              accumulator);
      for (auto &[key, sum] : accumulators)
        sum = terms.apply({Op::Mul, accumulator, accumulator}, {sum, factor});
    }
    std::map<int64_t, Positions> own;
    for (int64_t position : positions)
      own[accumulatorOf(position)].push_back(position);
    for (auto &[key, elementsOf] : own) {
      auto found = accumulators.find(key);
      TermId sum = found == accumulators.end() ? -1 : found->second;
      if (chains == levels.carry) {
        accumulators[key] = chain(sum, elementsOf, most);
        continue;
      }
      TermId part =
          partial(levels.carry, chains, elementsOf, [&](const Positions &leaf) {
            return Part{chain(-1, leaf, most), -1};
          }).sum;
      accumulators[key] =
          sum < 0
              ? part
              : terms.apply({Op::Add, accumulator, accumulator}, {sum, part});
    }
  }
  Part result =
      partial(levels.merge, levels.plain, of, [&](const Positions &leaf) {
        return Part{accumulators.at(accumulatorOf(leaf.front())), -1};
      });
  return {result.sum, most};
}
