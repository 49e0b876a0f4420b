// bitpact-opt.cpp - parse, verify, transform and print Bitpact's IR
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/ConvertKernel.h"
#include "codegen/CPU/ConvertKernel.h"
#include "codegen/Lowering/Passes.h"
#include "codegen/NVPTX/ConvertKernel.h"
#include "codegen/NVPTX/GroupDivisions.h"
#include "codegen/NVPTX/HoistLoads.h"
#include "dialects/Kernel/Tiles.h"
#include "dialects/Pact/Pact.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace bitpact;

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<pact::PactDialect, kernel::KernelDialect, tile::TileDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::ROCDL::ROCDLDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  lowering::registerLoweringPasses();
  mlir::registerPass([] { return codegen::createConvertKernelToNVVMPass(); });
  mlir::registerPass([] { return codegen::createGroupDivisionsPass(); });
  mlir::registerPass([] { return codegen::createHoistLoadsPass(); });
  mlir::registerPass([] { return codegen::createConvertKernelToROCDLPass(); });
  mlir::registerPass([] { return codegen::createConvertKernelToCPUPass(); });
  mlir::PassPipelineRegistration<> toLLVM(
      "kernel-to-llvm", "from arith, scf and vector to the LLVM dialect",
      lowering::addToLLVMPasses);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Bitpact's optimiser driver\n", registry));
}
