// TileEarly.h - what is copied before that ends which precedes a launch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEEARLY_H
#define BITPACT_CODEGEN_LOWERING_TILEEARLY_H

#include "codegen/Lowering/TilePlan.h"

namespace bitpact::lowering {

/// The tensors of which a kernel copies blocks early, where all of them are
/// steady: the second operands. CTAs of a cluster wait for each other first. Which
/// matrices of a stack are read first is said by offsets, which nothing holds
/// steady.
inline llvm::ArrayRef<std::string> steadyTensors(const TileFamily &family,
                                                 tile::ScheduleAttr schedule) {
  if (!schedule.copiesInBulk() || schedule.getCluster() > 1 || family.segments)
    return {};
  return family.b;
}

} // namespace bitpact::lowering

#endif // BITPACT_CODEGEN_LOWERING_TILEEARLY_H
