// SharedTiles.h - tile kernels whose consumers copy, on NVIDIA GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_SHAREDTILES_H
#define BITPACT_CODEGEN_NVPTX_SHAREDTILES_H

#include "codegen/Lowering/TileThreads.h"

namespace bitpact::codegen {

/// Replaces the kernel by one that multiplies with mma.sync, or with fma where
/// the step is one. From sm_80 on.
mlir::LogicalResult convertSharedTiles(tile::FuncOp func);

/// mma.sync for an atom, `dot.nv(8,24)`; none if there is none for it.
std::unique_ptr<lowering::WaveProducts> warpProducts(llvm::StringRef atom,
                                                     lowering::WaveShape shape);

} // namespace bitpact::codegen

#endif
