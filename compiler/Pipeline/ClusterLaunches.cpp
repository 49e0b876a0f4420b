// ClusterLaunches.cpp - a few rows, and about three blocks for a program
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/ClusterLaunches.h"

#include "codegen/Lowering/TilePlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace bitpact;

/// Blocks of a program; of an open depth, elements; strides, in elements that
/// are whole pieces of the copy unit.
static constexpr int64_t kBlocks = 3, kDepth = 4096, kStride = 1 << 16;
static constexpr int64_t kAddress = int64_t(1) << 40;
/// Rows of two warps, of which one has one.
static constexpr int64_t kSomeRows = 17;

SmallVector<codegen::ClusterLaunch>
pipeline::clusterLaunches(pact::ContractOp contract, pact::OperatorOp op,
                          tile::ScheduleAttr schedule, ArrayAttr slots) {
  lowering::TileFamily family = llvm::cantFail(lowering::tileFamily(op));
  SmallVector<codegen::ClusterLaunch> launches;
  for (int64_t rows : {int64_t(1), kSomeRows, schedule.getM()}) {
    std::map<std::string, int64_t> extents = {
        {family.rowDim, std::min(rows, schedule.getM())},
        {family.colDim, kBlocks * schedule.getN()},
        {family.depthDim, kDepth}};
    for (NamedAttribute dim : contract.getDims())
      if (int64_t extent = cast<IntegerAttr>(dim.getValue()).getInt();
          extent != ShapedType::kDynamic)
        extents[dim.getName().str()] = extent;
    int64_t blocks = llvm::divideCeil(extents[family.rowDim], schedule.getM()) *
                     llvm::divideCeil(extents[family.colDim], schedule.getN());
    codegen::ClusterLaunch launch;
    launch.clusters = llvm::divideCeil(blocks, kBlocks);
    for (StringRef slot : slots.getAsValueRange<StringAttr>()) {
      auto extent = extents.find(slot.str());
      bool isSteady = slot.ends_with(tile::kSteadySlot);
      launch.arguments.push_back(extent != extents.end() ? extent->second
                                 : isSteady ? int64_t(launches.size() % 2)
                                 : slot.contains(':') ? kStride
                                                      : kAddress);
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}
