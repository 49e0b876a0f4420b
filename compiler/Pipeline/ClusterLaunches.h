// ClusterLaunches.h - launches in which units of a program meet
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_CLUSTERLAUNCHES_H
#define BITPACT_COMPILER_PIPELINE_CLUSTERLAUNCHES_H

#include "codegen/NVPTX/ClusterRun.h"
#include "dialects/Kernel/Tiles.h"
#include "dialects/Pact/Pact.h"

namespace bitpact::pipeline {

/// Launches of a kernel with those slots, for its lint: of one row and of as
/// many as a block has, and one between. A program has about three blocks, so
/// that what is brought for one meets what was for the last.
llvm::SmallVector<codegen::ClusterLaunch>
clusterLaunches(pact::ContractOp contract, pact::OperatorOp op,
                tile::ScheduleAttr schedule, mlir::ArrayAttr slots);

} // namespace bitpact::pipeline

#endif
