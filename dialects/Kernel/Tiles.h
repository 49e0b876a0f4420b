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

#endif // BITPACT_DIALECTS_KERNEL_TILES_H
