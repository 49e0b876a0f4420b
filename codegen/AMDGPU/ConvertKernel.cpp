// ConvertKernel.cpp - distributed kernels to ROCDL
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/ConvertKernel.h"

#include "codegen/AMDGPU/SharedTiles.h"
#include "codegen/Lowering/ThreadKernel.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace bitpact;

namespace {

constexpr int64_t kWave = 64;

class RocdlKernel final : public lowering::ThreadKernel {
public:
  explicit RocdlKernel(kernel::FuncOp func)
      : ThreadKernel(func, {"AMD GPUs", kWave, /*privateSpace=*/5,
                            /*alignsAccesses=*/false}) {}

private:
  void markKernel(LLVM::LLVMFuncOp kernel, int64_t threads) override {
    kernel->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
    std::string range = (Twine(threads) + "," + Twine(threads)).str();
    kernel->setAttr(ROCDL::ROCDLDialect::getFlatWorkGroupSizeAttrName(),
                    builder.getStringAttr(range));
    kernel->setAttr(ROCDL::ROCDLDialect::getReqdWorkGroupSizeAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    // The runtime looks the entry up; nothing may stand in its place.
    kernel.setVisibility_(LLVM::Visibility::Protected);
  }
  Value threadIndex() override {
    return ROCDL::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  }
  Value groupIndex() override {
    return ROCDL::BlockIdXOp::create(builder, loc, builder.getI32Type());
  }
  Value partIndex() override {
    return ROCDL::BlockIdYOp::create(builder, loc, builder.getI32Type());
  }

  /// ds_bpermute reads the register of the lane at a byte address / 4. CTAs
  /// have one dimension, so the lane is the thread's index in its wave. All
  /// lanes of a wave are active: a lane that is off would give 0.
  Value shuffle(Value value, int64_t distance) override {
    Type type = value.getType(), word = builder.getI32Type();
    Value lane = LLVM::AndOp::create(builder, loc, thread, i32(kWave - 1));
    Value from = LLVM::XOrOp::create(builder, loc, lane, i32(distance));
    Value address = LLVM::ShlOp::create(builder, loc, from, i32(2));
    if (type != word)
      value = LLVM::BitcastOp::create(builder, loc, word, value);
    Value other =
        ROCDL::DsBpermuteOp::create(builder, loc, word, address, value);
    if (type != word)
      other = LLVM::BitcastOp::create(builder, loc, type, other);
    return other;
  }

  Value neighbour(Value, bool) override {
    llvm_unreachable("accesses of AMD GPUs need no alignment");
  }

  /// s_barrier orders execution; the fences order what went to memory.
  void barrier() override {
    LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release,
                          "workgroup");
    ROCDL::SBarrierOp::create(builder, loc);
    LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire,
                          "workgroup");
  }
};

struct ConvertKernelToROCDLPass
    : PassWrapper<ConvertKernelToROCDLPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertKernelToROCDLPass)
  ConvertKernelToROCDLPass() = default;
  explicit ConvertKernelToROCDLPass(StringRef of) { arch = of.str(); }
  ConvertKernelToROCDLPass(const ConvertKernelToROCDLPass &other)
      : PassWrapper(other) {}
  StringRef getArgument() const override { return "convert-kernel-to-rocdl"; }
  StringRef getDescription() const override {
    return "distributed kernels to ROCDL";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>()))
      if (failed(RocdlKernel(func).run()))
        return signalPassFailure();
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<tile::FuncOp>()))
      if (failed(codegen::convertSharedTiles(func, arch)))
        return signalPassFailure();
  }

  Option<std::string> arch{
      *this, "arch",
      llvm::cl::desc("whose matrix instructions tile kernels may use")};
};

} // namespace

std::unique_ptr<Pass> codegen::createConvertKernelToROCDLPass(StringRef arch) {
  return std::make_unique<ConvertKernelToROCDLPass>(arch);
}
