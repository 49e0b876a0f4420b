// WitnessShrink.cpp - the smallest and plainest input that still differs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/WitnessShrink.h"

#include "contracts/diff/TreeAim.h"
#include "contracts/reference/Arithmetic.h"

#include <algorithm>
#include <cmath>

namespace bitpact::diff {
namespace {

class Shrinker {
public:
  Shrinker(const ContractPair &pair, Candidate candidate, int64_t budget)
      : pair(pair), best(std::move(candidate)), budget(budget) {}

  Candidate run() {
    for (size_t dim = 0; dim < best.extents.size(); ++dim)
      if (pair.isOpen(static_cast<int>(dim)))
        shorten(static_cast<int>(dim));
    // Twice: what one pass makes plain may let the other go on.
    for (int pass = 0; pass < 2; ++pass) {
      for (const PairInput &input : pair.inputs())
        if (input.kind == PairInput::Float)
          clear(input);
      for (const PairInput &input : pair.inputs())
        if (input.kind == PairInput::Float)
          plain(input);
    }
    for (const PairInput &input : pair.inputs())
      if (input.kind == PairInput::Index)
        for (double &value : best.values[input.name])
          setIfDiffers(value, 0);
    return best;
  }

private:
  const ContractPair &pair;
  Candidate best;
  int64_t budget;

  int64_t size(const Candidate &candidate) const {
    int64_t count = 1;
    for (const PairInput &input : pair.inputs())
      count += pair.elements(input, candidate.extents);
    return count;
  }

  bool differs(const Candidate &candidate) {
    // A plan is made for every evaluation, which costs some elements too.
    budget -= 200 + 2 * size(candidate);
    return budget > 0 && pair.parting(candidate).has_value();
  }

  /// Tries a prefix of the dim, the shortest first.
  void shorten(int dim) {
    int64_t extent = best.extents[dim];
    for (int64_t n = 1; n < extent; n = n < 64 ? n + 1 : n * 2) {
      Candidate shorter = prefix(dim, n);
      if (differs(shorter)) {
        best = std::move(shorter);
        return;
      }
    }
  }

  Candidate prefix(int dim, int64_t extent) const {
    Candidate result;
    result.extents = best.extents;
    result.extents[dim] = extent;
    for (const PairInput &input : pair.inputs()) {
      const std::vector<double> &values = best.values.at(input.name);
      std::vector<double> &kept = result.values[input.name];
      int64_t inner = 1;
      auto at = std::find(input.dims.begin(), input.dims.end(), dim);
      for (auto next = at; next != input.dims.end(); ++next)
        inner *= next == at ? 1 : best.extents[*next];
      if (at == input.dims.end())
        kept = values;
      else
        for (size_t begin = 0; begin < values.size();
             begin += best.extents[dim] * inner)
          kept.insert(kept.end(), values.begin() + begin,
                      values.begin() + begin + extent * inner);
      if (input.over == dim)
        for (double &value : kept)
          value = std::min(
              value,
              static_cast<double>(extent - (input.kind == PairInput::Index)));
      if (input.kind == PairInput::Offsets && !kept.empty()) {
        kept.front() = 0;
        kept.back() = static_cast<double>(
            input.over < 0 ? 0 : result.extents[input.over]);
      }
    }
    return result;
  }

  bool setIfDiffers(double &value, double other) {
    if (std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(other))
      return true;
    double before = value;
    value = other;
    if (differs(best))
      return true;
    value = before;
    return false;
  }

  /// Blocks of elements to 0 or 1, large blocks first.
  void clear(const PairInput &input) {
    std::vector<double> &values = best.values[input.name];
    auto count = static_cast<int64_t>(values.size());
    // A weight that is 1 says nothing; an element of a row that is 0 neither.
    const double fills[] = {input.hasRows ? 0. : 1., input.hasRows ? 1. : 0.};
    for (int64_t block = count; block > 0; block /= 2)
      for (int64_t begin = 0; begin < count; begin += block) {
        int64_t end = std::min(begin + block, count);
        auto isPlain = [&](double v) {
          return (v == 0 && !std::signbit(v)) || v == 1;
        };
        if (std::all_of(values.begin() + begin, values.begin() + end, isPlain))
          continue;
        std::vector<double> before(values.begin() + begin,
                                   values.begin() + end);
        bool done = false;
        for (double fill : fills) {
          if (done || (fill == fills[1] && block > 1 && block < count))
            continue;
          std::fill(values.begin() + begin, values.begin() + end, fill);
          done = differs(best);
        }
        if (!done)
          std::copy(before.begin(), before.end(), values.begin() + begin);
        if (budget <= 0)
          return;
      }
  }

  /// Elements that must be something: a power of two, or of few bits.
  void plain(const PairInput &input) {
    std::vector<double> &values = best.values[input.name];
    int64_t left = 64; // of a dense witness nobody reads every element
    for (double &value : values) {
      if (value == 0 || value == 1 || value == -1 || !std::isfinite(value))
        continue;
      if (left-- == 0 || budget <= 0)
        return;
      bool done = setIfDiffers(value, value < 0 ? -1 : 1);
      double magnitude = std::ldexp(1.0, std::ilogb(value));
      double sign = value < 0 ? -1 : 1;
      for (double power : {magnitude, magnitude * 2})
        if (!done && std::isfinite(reference::roundTo(input.carrier, power)))
          done = setIfDiffers(value, sign * power);
      for (int bits : {2, 3, 5, 8, 12, 16}) {
        if (done)
          break;
        double unit = std::ldexp(magnitude, 1 - bits);
        double shorter = std::nearbyint(value / unit) * unit;
        if (reference::roundTo(input.carrier, shorter) == shorter)
          done = setIfDiffers(value, shorter);
      }
    }
  }
};

} // namespace

Candidate shrink(const ContractPair &pair, const Candidate &candidate,
                 const Parting &parting, int64_t budget) {
  Candidate one = pair.rowOf(candidate, pair.rowOf(parting));
  return Shrinker(pair, std::move(one), budget).run();
}

} // namespace bitpact::diff
