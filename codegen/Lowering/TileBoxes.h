// TileBoxes.h - how many rows the copy unit takes at a time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_LOWERING_TILEBOXES_H
#define BITPACT_CODEGEN_LOWERING_TILEBOXES_H

#include "dialects/Kernel/Tiles.h"

#include <numeric>

namespace bitpact::lowering {

/// Rows of a box where a matrix has more than a block. Boxes of few rows leave
/// out more of those that do not exist; but where a stage has few columns, and
/// so comes often, several boxes take longer than the rows that they leave out.
/// Of rows that are cut into segments most blocks are short.
inline int64_t boxRowsOf(tile::ScheduleAttr schedule, bool isCut) {
  constexpr int64_t manyColumns = 128, fewRows = 8;
  if (schedule.getK() < manyColumns)
    return schedule.getM();
  return isCut ? std::gcd(schedule.getM(), fewRows) : schedule.boxRows();
}

} // namespace bitpact::lowering

#endif
