// SharedTiles.cpp - tile kernels whose consumers copy, on AMD GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/SharedTiles.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;
using lowering::Emit;

namespace {

constexpr int64_t kWave = 64;
constexpr unsigned kShared = 3, kConstant = 4;
/// Of the launch's width, in threads, in the packet that dispatches it.
constexpr int64_t kGridWidth = 12;

class RocdlTiles final : public lowering::TileThreads {
public:
  RocdlTiles(tile::FuncOp func, StringRef arch)
      : TileThreads(func, {"AMD GPUs", kWave, /*privateSpace=*/5,
                           /*keepBf16=*/false}),
        arch(arch), threads(lowering::shareOf(func).threads) {}

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
  Value groups() override {
    Emit emit{builder, loc};
    auto type = LLVM::LLVMPointerType::get(builder.getContext(), kConstant);
    Value packet =
        LLVM::CallIntrinsicOp::create(
            builder, loc, type,
            builder.getStringAttr("llvm.amdgcn.dispatch.ptr"), ValueRange())
            ->getResult(0);
    Value at = LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(),
                                   packet, ValueRange{emit.i32(kGridWidth)});
    Value width = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), at,
                                       /*alignment=*/4);
    return LLVM::UDivOp::create(builder, loc, width, emit.i32(threads));
  }
  Value sharedMemory(LLVM::LLVMFuncOp kernel, int64_t bytes) override {
    std::string name = (kernel.getSymName() + "_shared").str();
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(kernel);
      auto global = LLVM::GlobalOp::create(
          builder, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal,
          name, Attribute(), /*alignment=*/128, kShared);
      // Shared memory begins undefined; LLVM wants to be told.
      Block *block = builder.createBlock(&global.getInitializerRegion());
      builder.setInsertionPointToStart(block);
      LLVM::ReturnOp::create(
          builder, loc, LLVM::UndefOp::create(builder, loc, type).getResult());
    }
    return LLVM::AddressOfOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kShared),
        name);
  }
  /// s_barrier orders execution; the fences order what went to memory.
  void barrier() override {
    LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release,
                          "workgroup");
    ROCDL::SBarrierOp::create(builder, loc);
    LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire,
                          "workgroup");
  }
  std::unique_ptr<lowering::WaveProducts>
  productsOf(tile::DotOp dot, lowering::WaveShape shape) override {
    if (dot.getAtom() == "dot.fma.f32" && !chainsFma(arch))
      return lowering::vectorProducts(shape, kWave);
    return matrixProducts(dot.getAtom(), shape);
  }

  StringRef arch;
  int64_t threads;
};

} // namespace

bool codegen::chainsFma(StringRef arch) {
  return arch == "gfx90a" || arch == "gfx942";
}

LogicalResult codegen::convertSharedTiles(tile::FuncOp func, StringRef arch) {
  return RocdlTiles(func, arch).run();
}
