// WitnessBoundary.cpp - walks to inputs at which an output changes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/WitnessBoundary.h"

#include "contracts/reference/Arithmetic.h"

#include <algorithm>
#include <cmath>

namespace bitpact::diff {

using reference::NamedValue;
using Tensors = reference::Evaluator::Tensors;

namespace {

/// Values of a format in ascending order.
int64_t ordinalOf(Format format, double value) {
  uint64_t bits = reference::encode(format, value);
  uint64_t sign = uint64_t(1) << (algebra::bits(format) - 1);
  auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}
double valueOf(Format format, int64_t ordinal) {
  uint64_t sign = uint64_t(1) << (algebra::bits(format) - 1);
  return reference::decode(format, ordinal < 0
                                       ? sign | static_cast<uint64_t>(-ordinal)
                                       : static_cast<uint64_t>(ordinal));
}

/// An element of the input and the element of an output that watches it.
struct Walk {
  const PairInput *input;
  int64_t element;
  std::string output;
  int64_t watched;
  int64_t low, high; ///< ordinals
  uint64_t before = 0;
};

/// The row-major index of the element of a tensor at a coordinate by dim.
int64_t indexAt(const std::vector<int> &dims,
                const std::vector<int64_t> &extents,
                const std::vector<int64_t> &coordinate) {
  int64_t index = 0;
  for (int dim : dims)
    index = index * extents[dim] + coordinate[dim];
  return index;
}

constexpr int64_t manyElements = int64_t(1) << 22;

class Walker {
public:
  Walker(const ContractPair &pair, const Candidate &from, WitnessSource &source)
      : pair(pair), candidate(from), source(source) {
    for (const NamedValue &named : pair.programA().named)
      if (named.isOutput)
        outputs.push_back(&named);
  }

  const ContractPair &pair;
  Candidate candidate;
  WitnessSource &source;
  std::vector<const NamedValue *> outputs;
  Tensors a;

  /// Evaluates the candidate; what A gave stays in `a`.
  std::optional<Found> judge(int64_t &tried) {
    a = pair.run(false, candidate);
    tried += pair.rowDim() < 0 ? 1 : candidate.extents[pair.rowDim()];
    if (auto parting = pair.parting(a, pair.run(true, candidate)))
      return Found{candidate, *parting};
    return std::nullopt;
  }

  uint64_t watched(const Walk &walk) const {
    return elementAt(a.at(walk.output), walk.watched).bits;
  }

  /// An element of an output, in a given row where the output has rows, and at
  /// given coordinates. A contract with less extent has less of it.
  bool watch(Walk &walk, int64_t row, std::vector<int64_t> coordinate,
             const std::vector<bool> &known) {
    const NamedValue &named = *outputs[source.below(outputs.size())];
    const std::vector<int64_t> &shape = a.at(named.name).shape;
    std::vector<int64_t> extents(coordinate.size(), 1);
    for (size_t axis = 0; axis < named.dims.size(); ++axis) {
      int dim = named.dims[axis];
      extents[dim] = shape[axis];
      if (dim == pair.rowDim() && row >= 0)
        coordinate[dim] = row;
      else if (!known[dim])
        coordinate[dim] = source.below(extents[dim]);
      if (coordinate[dim] >= extents[dim])
        return false;
    }
    walk.output = named.name;
    walk.watched = indexAt(named.dims, extents, coordinate);
    return true;
  }
};

} // namespace

std::optional<Found> walkToBoundary(const ContractPair &pair,
                                    const Candidate &from,
                                    WitnessSource &source, int64_t &tried) {
  Walker walker(pair, from, source);
  std::vector<const PairInput *> floats;
  for (const PairInput &input : pair.inputs())
    if (input.kind == PairInput::Float)
      floats.push_back(&input);
  if (floats.empty())
    return std::nullopt;
  if (auto found = walker.judge(tried))
    return found;
  const PairInput &moved = *floats[source.below(floats.size())];
  InputLines lines(pair, moved, walker.candidate.extents);
  size_t dimCount = walker.candidate.extents.size();

  std::vector<Walk> walks;
  std::vector<double> &values = walker.candidate.values[moved.name];
  auto begin = [&](int64_t element, int64_t row,
                   const std::vector<int64_t> &coordinate,
                   const std::vector<bool> &known) {
    Walk walk{&moved, element, "", 0, 0, 0};
    if (!std::isfinite(values[element]) ||
        !walker.watch(walk, row, coordinate, known))
      return;
    walk.before = walker.watched(walk);
    walk.low = ordinalOf(moved.carrier, values[element]);
    double there = values[element] == 0
                       ? source.normal()
                       : values[element] * (source.below(2) ? 1.25 : 0.75);
    walk.high =
        ordinalOf(moved.carrier, reference::roundTo(moved.carrier, there));
    walks.push_back(walk);
  };
  for (int64_t row = 0; row < lines.rows; ++row) {
    // All elements of a shared input walk at once, each its own way.
    int64_t count = moved.hasRows ? 1 : lines.length;
    for (int64_t n = 0; n < count; ++n) {
      int64_t k = moved.hasRows ? source.below(lines.length) : n;
      std::vector<int64_t> coordinate(dimCount, 0);
      std::vector<bool> known(dimCount, false);
      bool beside = !moved.hasRows || source.below(4) != 0;
      for (int dim : moved.dims)
        if (dim != pair.rowDim()) {
          coordinate[dim] = lines.position(k, dim);
          known[dim] = beside;
        }
      begin(lines.at(row, k), moved.hasRows ? row : -1, coordinate, known);
    }
  }
  auto place = [&](auto &&ordinal) {
    for (const Walk &walk : walks)
      values[walk.element] = valueOf(moved.carrier, ordinal(walk));
  };
  place([](const Walk &walk) { return walk.high; });
  if (auto found = walker.judge(tried))
    return found;
  std::erase_if(walks, [&](const Walk &walk) {
    if (walker.watched(walk) != walk.before)
      return false;
    values[walk.element] = valueOf(moved.carrier, walk.low);
    return true;
  });
  while (!walks.empty()) {
    bool apart = false;
    auto middle = [](const Walk &walk) {
      return walk.low + (walk.high - walk.low) / 2;
    };
    for (const Walk &walk : walks)
      apart |= std::abs(walk.high - walk.low) > 1;
    if (!apart)
      break;
    place(middle);
    if (auto found = walker.judge(tried))
      return found;
    for (Walk &walk : walks)
      (walker.watched(walk) == walk.before ? walk.low : walk.high) =
          middle(walk);
  }
  place([](const Walk &walk) { return walk.low; });
  if (auto found = walker.judge(tried))
    return found;
  place([](const Walk &walk) { return walk.high; });
  return walker.judge(tried);
}

std::optional<Found> approachBoundary(const ContractPair &pair,
                                      const Candidate &from, bool logarithmic,
                                      WitnessSource &source, int64_t &tried) {
  Walker walker(pair, from, source);
  std::vector<const PairInput *> carriers;
  for (const PairInput &input : pair.inputs())
    if (input.kind == PairInput::Float && input.hasRows)
      carriers.push_back(&input);
  if (carriers.empty())
    return std::nullopt;
  const PairInput &moved = *carriers[source.below(carriers.size())];
  InputLines lines(pair, moved, walker.candidate.extents);
  if (lines.length < 4)
    return std::nullopt;
  std::vector<double> &values = walker.candidate.values[moved.name];
  // Rows so long that the walk would cost too much are not walked from.
  int64_t steps = std::min({lines.length - 2, int64_t(72),
                            manyElements / (lines.length * lines.rows)});
  if (steps < 8 && steps < lines.length - 2)
    return std::nullopt;
  // How much smaller each element is than the one before.
  double ratio = std::exp2(-(source.below(2) ? 0.5 : 1.0) *
                           (lines.length < 40 ? 1.5 : 1.0));

  std::vector<Walk> walks;
  std::vector<std::vector<int64_t>> movers(lines.rows);
  std::vector<double> top(lines.rows, 0);
  double nothing = logarithmic ? -1e4 : 0.0;
  for (int64_t row = 0; row < lines.rows; ++row) {
    std::vector<int64_t> order(lines.length);
    for (int64_t k = 0; k < lines.length; ++k)
      order[k] = k;
    for (int64_t k = 0; k < steps; ++k)
      std::swap(order[k], order[k + source.below(lines.length - k)]);
    movers[row].assign(order.begin(), order.begin() + steps);
    for (int64_t k : movers[row])
      values[lines.at(row, k)] = nothing;
    double sign = source.sign();
    bool any = false;
    for (int64_t k = 0; k < lines.length; ++k) {
      double value = values[lines.at(row, k)];
      if (!logarithmic)
        top[row] = std::max(std::fabs(top[row]), std::fabs(value)) * sign;
      else if (!any || value > top[row])
        top[row] = value;
      any = true;
    }
  }
  if (auto found = walker.judge(tried))
    return found;
  size_t dimCount = walker.candidate.extents.size();
  for (int64_t row = 0; row < lines.rows; ++row) {
    // Beside an element that stays: zeros say nothing.
    int64_t k = source.below(lines.length);
    for (int n = 0;
         n < 64 && std::count(movers[row].begin(), movers[row].end(), k); ++n)
      k = source.below(lines.length);
    std::vector<int64_t> coordinate(dimCount, 0);
    std::vector<bool> known(dimCount, false);
    for (int dim : moved.dims)
      if (dim != pair.rowDim()) {
        coordinate[dim] = lines.position(k, dim);
        known[dim] = true;
      }
    Walk walk{&moved, row, "", 0, 0, 0};
    if (walker.watch(walk, row, coordinate, known)) {
      walk.before = walker.watched(walk);
      walks.push_back(walk);
    }
  }
  double scale = lines.length < 40 ? 0x1p-3 : 1;
  for (int64_t step = 0; step < steps; ++step, scale *= ratio) {
    for (const Walk &walk : walks) {
      int64_t row = walk.element;
      double mantissa = 1 + static_cast<double>(source.below(128)) / 128;
      double value = logarithmic ? top[row] + std::log(scale * mantissa)
                                 : top[row] * scale * mantissa;
      values[lines.at(row, movers[row][step])] =
          reference::roundTo(moved.carrier, value);
    }
    if (auto found = walker.judge(tried))
      return found;
    for (const Walk &walk : walks)
      if (walker.watched(walk) != walk.before)
        values[lines.at(walk.element, movers[walk.element][step])] = nothing;
  }
  return std::nullopt;
}

} // namespace bitpact::diff
