// HoistLoads.cpp - loads of a lane are issued together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/HoistLoads.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace bitpact;

namespace {

/// Of more a lane would hold too many registers.
constexpr int64_t kMostBytes = 64;

bool readsArgument(LLVM::LoadOp load) {
  auto address = load.getAddr().getDefiningOp<LLVM::GEPOp>();
  auto base =
      address ? dyn_cast<BlockArgument>(address.getBase()) : BlockArgument();
  if (!base || !base.getOwner()->isEntryBlock())
    return false;
  auto func = dyn_cast<LLVM::LLVMFuncOp>(base.getOwner()->getParentOp());
  return func && func.getArgAttr(base.getArgNumber(),
                                 LLVM::LLVMDialect::getReadonlyAttrName());
}

int64_t bytesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getNumElements() : 1) *
         getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

/// What computes an address after `first`, in its order; false if that is more
/// than arithmetic.
bool addressAfter(LLVM::LoadOp load, Operation *first,
                  SmallVectorImpl<Operation *> &order) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> needed{load.getAddr()};
  while (!needed.empty()) {
    Operation *op = needed.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != load->getBlock() ||
        op->isBeforeInBlock(first) || !slice.insert(op))
      continue;
    if (!isPure(op))
      return false;
    llvm::append_range(needed, op->getOperands());
  }
  llvm::append_range(order, slice);
  llvm::sort(order,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return true;
}

void hoistLoads(Block &block) {
  SmallVector<LLVM::LoadOp> loads;
  int64_t bytes = 0;
  for (auto load : block.getOps<LLVM::LoadOp>())
    if (readsArgument(load)) {
      loads.push_back(load);
      bytes += bytesOf(load.getType());
    }
  if (loads.size() < 2 || bytes > kMostBytes)
    return;
  LLVM::LoadOp first = loads.front();
  Operation *last = first;
  for (LLVM::LoadOp load : ArrayRef(loads).drop_front()) {
    SmallVector<Operation *> address;
    if (!addressAfter(load, first, address))
      continue;
    for (Operation *op : address)
      op->moveBefore(first);
    load->moveAfter(last);
    last = load;
  }
}

struct HoistLoadsPass : PassWrapper<HoistLoadsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistLoadsPass)
  StringRef getArgument() const override { return "hoist-loads"; }
  StringRef getDescription() const override {
    return "few loads of what is not written, one after the other";
  }
  void runOnOperation() override {
    getOperation().walk([](LLVM::LLVMFuncOp func) {
      for (Block &block : func.getBody())
        hoistLoads(block);
    });
  }
};

} // namespace

std::unique_ptr<Pass> codegen::createHoistLoadsPass() {
  return std::make_unique<HoistLoadsPass>();
}
