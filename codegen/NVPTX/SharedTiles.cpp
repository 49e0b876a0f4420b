// SharedTiles.cpp - tile kernels whose consumers copy, on NVIDIA GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/SharedTiles.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;
using lowering::Emit;

namespace {

constexpr int64_t kWarp = 32;
constexpr unsigned kShared = 3;

class NvvmTiles final : public lowering::TileThreads {
public:
  explicit NvvmTiles(tile::FuncOp func)
      : TileThreads(func, {"NVIDIA GPUs", kWarp, /*privateSpace=*/0,
                           /*keepBf16=*/true}) {}

private:
  void markKernel(LLVM::LLVMFuncOp kernel, int64_t threads) override {
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
    kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(1));
  }
  Value threadIndex() override {
    return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  }
  Value groupIndex() override {
    return NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  }
  Value groups() override {
    return NVVM::GridDimXOp::create(builder, loc, builder.getI32Type());
  }
  /// As much as the launch gives, which may be more than code can ask for.
  Value sharedMemory(LLVM::LLVMFuncOp kernel, int64_t) override {
    std::string name = (kernel.getSymName() + "_shared").str();
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(kernel);
      LLVM::GlobalOp::create(builder, loc,
                             LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External,
                             name, Attribute(), /*alignment=*/128, kShared);
    }
    return LLVM::AddressOfOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kShared),
        name);
  }
  void barrier() override { NVVM::BarrierOp::create(builder, loc); }
  void copyPiece(Value to, Value from, Value exists) override {
    Emit emit{builder, loc};
    Value bytes =
        emit.select(exists, emit.i32(lowering::kPieceBytes), emit.i32(0));
    NVVM::CpAsyncOp::create(builder, loc, to, from,
                            uint32_t(lowering::kPieceBytes),
                            NVVM::LoadCacheModifierKind::CG, bytes);
  }
  void commitCopies() override {
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  void waitForCopies(int64_t after) override {
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, uint32_t(after));
  }
  std::unique_ptr<lowering::WaveProducts>
  productsOf(tile::DotOp dot, lowering::WaveShape shape) override {
    if (dot.getAtom() == "dot.fma.f32")
      return lowering::vectorProducts(shape, kWarp);
    return warpProducts(dot.getAtom(), shape);
  }
};

} // namespace

LogicalResult codegen::convertSharedTiles(tile::FuncOp func) {
  return NvvmTiles(func).run();
}
