// SharedTiles.h - tile kernels whose consumers copy, on AMD GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_AMDGPU_SHAREDTILES_H
#define BITPACT_CODEGEN_AMDGPU_SHAREDTILES_H

#include "codegen/Lowering/TileThreads.h"

namespace bitpact::codegen {

/// Whether FP32 matrix instructions are known to be chains of fma: published
/// for CDNA2 and CDNA3 (MMA-Sim, arXiv 2511.10909: one fma for each k, in
/// ascending order, subnormals kept); for MI350 nothing is.
bool chainsFma(llvm::StringRef arch);

/// Replaces the kernel.
mlir::LogicalResult convertSharedTiles(tile::FuncOp func, llvm::StringRef arch);

/// Matrix instructions for a step, `dot.cdna3` or `dot.fma.f32`; none if there
/// are none for it.
std::unique_ptr<lowering::WaveProducts>
matrixProducts(llvm::StringRef step, lowering::WaveShape shape);

} // namespace bitpact::codegen

#endif
