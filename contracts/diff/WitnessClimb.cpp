// WitnessClimb.cpp - carries a difference inside outward, change by change
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/WitnessClimb.h"

#include "contracts/reference/Arithmetic.h"

#include <algorithm>
#include <cmath>

namespace bitpact::diff {

using reference::NamedValue;
using Tensors = reference::Evaluator::Tensors;

namespace {

constexpr int generations = 24;

/// How far out a row differs: the last site in the order of the operator, and
/// the largest value there that differs.
struct Depth {
  int site = -1;
  double size = 0;
  bool operator<(const Depth &other) const {
    return site != other.site ? site < other.site : size < other.size;
  }
};

class Climber {
public:
  Climber(const ContractPair &pair, WitnessSource &source)
      : pair(pair), source(source) {}

  /// Judges a batch and keeps its best row, if it is no worse. True where an
  /// output differs.
  bool judge(const Candidate &batch) {
    a = pair.runNamed(false, batch);
    b = pair.runNamed(true, batch);
    found = pair.parting(a, b);
    if (found)
      return true;
    std::vector<Depth> depths = depthsOf(batch.extents[pair.rowDim()]);
    auto row = std::max_element(depths.begin(), depths.end());
    if (row->site >= 0 && !(*row < best)) {
      best = *row;
      current = pair.rowOf(batch, row - depths.begin());
    }
    return false;
  }

  Candidate changed(int64_t rows, int generation) {
    Candidate batch;
    batch.extents = current.extents;
    batch.extents[pair.rowDim()] = rows;
    bool changeShared = generation % 3 == 2;
    for (const PairInput &input : pair.inputs()) {
      const std::vector<double> &one = current.values.at(input.name);
      std::vector<double> &values = batch.values[input.name];
      if (!input.hasRows) {
        values = one;
        if (changeShared && input.kind == PairInput::Float)
          for (double &value : values)
            if (source.below(2))
              value =
                  reference::roundTo(input.carrier, 1 + source.normal() * 0.5);
        continue;
      }
      InputLines lines(pair, input, batch.extents);
      values.resize(one.size() * rows);
      double top = 0;
      for (double value : one)
        if (std::isfinite(value))
          top = std::max(top, std::fabs(value));
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t k = 0; k < lines.length; ++k)
          values[lines.at(row, k)] = one[k];
        if (input.kind != PairInput::Float || row == 0)
          continue; // one row as it is, so that nothing is lost
        for (int64_t n = source.below(3); n >= 0; --n) {
          double &value = values[lines.at(row, source.below(lines.length))];
          value = reference::roundTo(input.carrier, other(value, top));
        }
      }
    }
    return batch;
  }

  bool started() const { return best.site >= 0; }
  std::optional<Parting> found;

private:
  const ContractPair &pair;
  WitnessSource &source;
  Tensors a, b;
  Depth best;
  Candidate current;

  double other(double value, double top) {
    int64_t way = source.below(8);
    double unit = top == 0 ? 1 : std::ldexp(1.0, std::ilogb(top));
    if (way == 0)
      return 0;
    if (way == 1 && value != 0 && std::isfinite(value))
      return value * (1 + source.normal() * 0x1p-6);
    if (way == 2)
      return source.sign() * std::ldexp(unit, source.between(-3, 14));
    if (way < 6) // larger than all there is: over the next tie
      return std::ldexp(source.normal() * unit, source.between(-1, 9));
    return std::ldexp(source.normal() * unit, source.between(-30, 0));
  }

  std::vector<Depth> depthsOf(int64_t rows) const {
    std::vector<Depth> depths(rows);
    const std::vector<NamedValue> &named = pair.programA().named;
    for (size_t site = 0; site < named.size(); ++site) {
      auto inA = a.find(named[site].name), inB = b.find(named[site].name);
      if (inA == a.end() || inB == b.end() || inA->second == inB->second ||
          inA->second.shape != inB->second.shape)
        continue;
      const std::vector<int> &dims = named[site].dims;
      auto axis = std::find(dims.begin(), dims.end(), pair.rowDim());
      if (axis == dims.end())
        continue;
      const std::vector<int64_t> &shape = inA->second.shape;
      int64_t inner = 1, count = 1;
      for (size_t i = 0; i < shape.size(); ++i) {
        count *= shape[i];
        if (static_cast<int64_t>(i) > axis - dims.begin())
          inner *= shape[i];
      }
      for (int64_t i = 0; i < count; ++i) {
        Element left = elementAt(inA->second, i);
        if (same(left, elementAt(inB->second, i)) || !std::isfinite(left.value))
          continue;
        Depth &depth = depths[i / inner % rows];
        Depth here{static_cast<int>(site), std::fabs(left.value)};
        if (depth < here)
          depth = here;
      }
    }
    return depths;
  }
};

} // namespace

std::optional<Found> climb(const ContractPair &pair, const Candidate &from,
                           int64_t rows, WitnessSource &source,
                           int64_t &tried) {
  if (!pair.rowsAreOpen())
    return std::nullopt;
  Climber climber(pair, source);
  tried += from.extents[pair.rowDim()];
  if (climber.judge(from))
    return Found{from, *climber.found};
  for (int n = 0; n < generations && climber.started(); ++n) {
    Candidate batch = climber.changed(rows, n);
    tried += rows;
    if (climber.judge(batch))
      return Found{std::move(batch), *climber.found};
  }
  return std::nullopt;
}

} // namespace bitpact::diff
