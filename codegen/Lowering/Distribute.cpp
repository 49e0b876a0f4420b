// Distribute.cpp - one thread a lane; drops the lane dimension
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/Passes.h"
#include "dialects/Kernel/KernelDialect.h"

using namespace mlir;
using namespace bitpact;

namespace {

Type dropLanes(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getElementType();
  if (auto scratch = dyn_cast<kernel::ScratchType>(type))
    return kernel::ScratchType::get(type.getContext(), scratch.getSize(),
                                    dropLanes(scratch.getCellType()));
  return type;
}

/// Control flow is uniform and lane values are vectors of rank 1, so that
/// every type can change where it stands.
struct DistributePass
    : PassWrapper<DistributePass, OperationPass<kernel::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DistributePass)
  StringRef getArgument() const override { return "kernel-distribute"; }
  StringRef getDescription() const override {
    return "gives each lane of a kernel a thread";
  }

  void runOnOperation() override {
    SmallVector<vector::BroadcastOp> broadcasts;
    WalkResult walk = getOperation()->walk([&](Operation *op) {
      if (isa<kernel::FuncOp>(op))
        return WalkResult::advance();
      if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
        broadcasts.push_back(broadcast);
        return WalkResult::advance();
      }
      if (op->getDialect()->getNamespace() == "vector") {
        op->emitOpError("has no meaning for one lane");
        return WalkResult::interrupt();
      }
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
          if (!dense.isSplat()) {
            op->emitOpError("differs between lanes");
            return WalkResult::interrupt();
          }
          constant.setValueAttr(dense.getSplatValue<TypedAttr>());
        }
      for (OpResult result : op->getResults())
        result.setType(dropLanes(result.getType()));
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          argument.setType(dropLanes(argument.getType()));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    for (vector::BroadcastOp broadcast : broadcasts) {
      broadcast.getResult().replaceAllUsesWith(broadcast.getSource());
      broadcast.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> lowering::createDistributePass() {
  return std::make_unique<DistributePass>();
}
