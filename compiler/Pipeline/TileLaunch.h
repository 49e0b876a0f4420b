// TileLaunch.h - what a tile kernel asks of its launch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_TILELAUNCH_H
#define BITPACT_COMPILER_PIPELINE_TILELAUNCH_H

#include "codegen/NVPTX/TileLayout.h"
#include "dialects/Pact/Pact.h"
#include "runtime/package/Format.h"

namespace bitpact::pipeline {

/// Fills the launch geometry, the tensor maps and their conditions.
void describeTiles(pact::ContractOp contract, pact::OperatorOp op,
                   tile::ScheduleAttr schedule,
                   const codegen::TileLayout &layout,
                   package::Variant &variant);

} // namespace bitpact::pipeline

#endif
