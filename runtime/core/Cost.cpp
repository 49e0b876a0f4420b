// Cost.cpp - what a launch of tiles takes, as its variant says
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Kernel.h"

#include <limits>

namespace bitpact::runtime {

int64_t costOf(const Kernel &kernel, const Candidate &candidate,
               const Bound &bound) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  if (candidate.costDim < 0)
    return most;
  const StepPlan &step = candidate.steps.front();
  int64_t tiles = 1, sum;
  bool overflow = false;
  for (const TilePlan &tile : step.tiles)
    overflow |= __builtin_mul_overflow(tiles, tile.count(bound.dims), &tiles);
  int64_t atOnce =
      step.ctasPerUnit ? step.programsAtOnce(kernel.device->units) : tiles;
  const package::Cost &cost = candidate.cost;
  overflow |= __builtin_mul_overflow(cost.element,
                                     bound.dims[candidate.costDim], &sum);
  overflow |= __builtin_add_overflow(sum, cost.tile, &sum);
  overflow |= __builtin_mul_overflow(sum, (tiles - 1) / atOnce + 1, &sum);
  overflow |= __builtin_add_overflow(sum, cost.start, &sum);
  return overflow ? most : sum;
}

} // namespace bitpact::runtime
