// TileLimits.h - what a CTA and a cluster of sm_90a can do
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_TILELIMITS_H
#define BITPACT_CODEGEN_NVPTX_TILELIMITS_H

#include "codegen/NVPTX/TileLayout.h"

namespace bitpact::codegen {

/// CTAs of a cluster.
inline constexpr int64_t kMostCluster = 8;

/// The errors name what cannot be: of a product of a warpgroup, of the registers
/// of a CTA with so many threads, and of a cluster.
llvm::Error checkDot(tile::DotOp dot);
llvm::Error checkRegisters(tile::ScheduleAttr schedule, int64_t threads);
llvm::Error checkCluster(tile::ScheduleAttr schedule, const TileLayout &layout);

} // namespace bitpact::codegen

#endif
