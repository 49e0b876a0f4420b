// TileLaunch.cpp - what a tile kernel asks of its launch
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/TileLaunch.h"

#include "codegen/Lowering/TileEarly.h"

using namespace mlir;
using namespace bitpact;

/// Bytes to which the copy unit wants rows aligned.
static constexpr int64_t kRowAlign = 16;

void pipeline::describeTiles(pact::ContractOp contract, pact::OperatorOp op,
                             tile::ScheduleAttr schedule,
                             const codegen::TileLayout &layout,
                             package::Variant &variant) {
  lowering::TileFamily family = llvm::cantFail(lowering::tileFamily(op));
  variant.launch.tiles = {
      {family.rowDim, schedule.getM(),
       family.segments ? family.segments->boundDim : std::string()},
      {family.colDim, schedule.getN(), ""}};
  // A program of its own for every block.
  if (schedule.packsOwn())
    return;
  variant.launch.threads = layout.threads;
  variant.launch.sharedBytes = layout.sharedBytes;
  variant.launch.ctasPerUnit = 1;
  variant.launch.ctasPerProgram = schedule.units();
  auto aligned = [&](const std::string &tensor, int64_t bytes) {
    Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
    variant.when.align[tensor] = bytes;
    variant.when.strideMultiple[tensor] =
        bytes / (element.getIntOrFloatBitWidth() / 8);
  };
  for (const std::string &tensor : lowering::steadyTensors(family, schedule)) {
    package::Argument argument;
    argument.kind = package::ArgumentKind::Steady;
    argument.tensor = tensor;
    variant.arguments.push_back(argument);
  }
  for (const codegen::TensorMap &map : layout.maps) {
    package::Argument argument;
    argument.kind = package::ArgumentKind::TensorMap;
    argument.tensor = map.tensor;
    argument.box = {map.rows, map.cols, codegen::kSwizzledRow, map.part,
                    map.promotion};
    variant.arguments.push_back(argument);
    aligned(map.tensor, kRowAlign);
  }
}
