//===- Tiles.h - the tile dialect -*- C++ -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_TILES_H
#define BITPACT_DIALECTS_KERNEL_TILES_H

#include "dialects/Kernel/KernelDialect.h"

#include <numeric>

#include "dialects/Kernel/TileDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Kernel/TileTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/TileAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Kernel/TileOps.h.inc"

namespace bitpact::tile {

/// Ends the name of the slot of a tensor that the caller may call steady: not 0
/// if nothing that may still run when the launch begins writes it.
inline constexpr llvm::StringLiteral kSteadySlot = ":steady";

} // namespace bitpact::tile

#endif // BITPACT_DIALECTS_KERNEL_TILES_H
