// ConvertKernel.cpp - distributed kernels to NVVM
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ConvertKernel.h"

#include "codegen/Lowering/ThreadKernel.h"
#include "codegen/NVPTX/SharedTiles.h"
#include "codegen/NVPTX/TileKernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace bitpact;

namespace {

class NvvmKernel final : public lowering::ThreadKernel {
public:
  explicit NvvmKernel(kernel::FuncOp func)
      : ThreadKernel(func, {"NVIDIA GPUs", /*subgroup=*/32,
                            /*privateSpace=*/0, /*alignsAccesses=*/true}) {}

private:
  void markKernel(LLVM::LLVMFuncOp kernel, int64_t threads) override {
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
    kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  }
  Value threadIndex() override {
    return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  }
  Value groupIndex() override {
    return NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  }
  Value partIndex() override {
    return NVVM::BlockIdYOp::create(builder, loc, builder.getI32Type());
  }
  Value shuffle(Value value, int64_t distance) override {
    return NVVM::ShflOp::create(builder, loc, value.getType(), i32(-1), value,
                                i32(distance), i32(31), NVVM::ShflKind::bfly,
                                UnitAttr());
  }
  Value neighbour(Value value, bool next) override {
    return NVVM::ShflOp::create(
        builder, loc, value.getType(), i32(-1), value, i32(1),
        i32(next ? 31 : 0), next ? NVVM::ShflKind::down : NVVM::ShflKind::up,
        UnitAttr());
  }
  void barrier() override { NVVM::BarrierOp::create(builder, loc); }
};

struct ConvertKernelToNVVMPass
    : PassWrapper<ConvertKernelToNVVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertKernelToNVVMPass)
  StringRef getArgument() const override { return "convert-kernel-to-nvvm"; }
  StringRef getDescription() const override {
    return "distributed kernels to NVVM";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }
  void runOnOperation() override {
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>()))
      if (failed(NvvmKernel(func).run()))
        return signalPassFailure();
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<tile::FuncOp>())) {
      if (func.getSchedule().sharesCopies()) {
        if (failed(codegen::convertSharedTiles(func)))
          return signalPassFailure();
        continue;
      }
      llvm::Expected<codegen::TileLayout> layout = codegen::layOut(func);
      if (!layout) {
        func.emitOpError() << llvm::toString(layout.takeError());
        return signalPassFailure();
      }
      if (failed(codegen::TileKernel(func, std::move(*layout)).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> codegen::createConvertKernelToNVVMPass() {
  return std::make_unique<ConvertKernelToNVVMPass>();
}
