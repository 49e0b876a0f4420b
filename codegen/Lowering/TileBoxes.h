// TileBoxes.h - how many rows the copy unit takes at a time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEBOXES_H
#define BITPACT_CODEGEN_LOWERING_TILEBOXES_H

#include "dialects/Kernel/Tiles.h"

#include <numeric>

namespace bitpact::lowering {

/// Columns by multiples of which a block of the result is moved back from the end
/// of a matrix.
constexpr int64_t kMovedCols = 8;

/// The most rows of a box, which has no more than its matrix. The last block is
/// moved back to where all its rows exist; not so that of a segment, where boxes of
/// few leave out rows beyond it, unless a stage has few columns, and so comes often:
/// then several boxes take longer.
inline int64_t boxRowsOf(tile::ScheduleAttr schedule, bool isCut) {
  constexpr int64_t manyColumns = 128, fewRows = 8;
  if (schedule.getK() < manyColumns)
    return schedule.getM();
  return isCut ? std::gcd(schedule.getM(), fewRows) : schedule.getM();
}

} // namespace bitpact::lowering

#endif
