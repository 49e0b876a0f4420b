// ObjectCode.cpp - LLVM dialect to an hsaco
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/ObjectCode.h"
#include "codegen/AMDGPU/Metadata.h"
#include "codegen/Target/Assemble.h"
#include "codegen/Target/IRPipeline.h"
#include "codegen/Target/Link.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;

namespace bitpact::codegen {

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

/// f32 subnormals would be flushed by default. The others say what a kernel
/// does not ask for, so that the loader need not set it up.
static const FunctionAttributes &attributes() {
  static const FunctionAttributes all = {
      {"denormal-fp-math", "ieee,ieee"},
      {"denormal-fp-math-f32", "ieee,ieee"},
      {"amdgpu-ieee", "true"},
      {"amdgpu-no-dispatch-ptr", ""},
      {"amdgpu-no-queue-ptr", ""},
      {"amdgpu-no-implicitarg-ptr", ""},
      {"amdgpu-no-dispatch-id", ""},
      {"amdgpu-no-workgroup-id-y", ""},
      {"amdgpu-no-workgroup-id-z", ""},
      {"amdgpu-no-workitem-id-y", ""},
      {"amdgpu-no-workitem-id-z", ""},
      {"amdgpu-no-heap-ptr", ""},
      {"amdgpu-no-hostcall-ptr", ""},
      {"amdgpu-no-default-queue", ""},
      {"amdgpu-no-completion-action", ""},
      {"amdgpu-no-multigrid-sync-arg", ""},
      {"amdgpu-no-lds-kernel-id", ""},
  };
  return all;
}

static void setCodeObjectVersion(mlir::ModuleOp module) {
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto flag = mlir::LLVM::ModuleFlagAttr::get(
      module.getContext(), mlir::LLVM::ModFlagBehavior::Error,
      builder.getStringAttr("amdhsa_code_object_version"),
      builder.getI32IntegerAttr(100 * kCodeObjectVersion));
  mlir::LLVM::ModuleFlagsOp::create(builder, module.getLoc(),
                                    builder.getArrayAttr({flag}));
}

mlir::FailureOr<CompiledCode> compileHip(mlir::ModuleOp module,
                                         StringRef arch) {
  initialize();
  mlir::Location location = module.getLoc();
  // LLVM would make one v_fma_mixlo_f16, with +0 added, of a product and its
  // rounding to f16: a product of -0 would lose its sign.
  auto machine = createMachine(location, "amdgcn-amd-amdhsa", arch,
                               /*features=*/"-fma-mix-insts");
  if (failed(machine))
    return mlir::failure();
  setCodeObjectVersion(module);
  LLVMContext context;
  FunctionAttributes wanted = attributes();
  bool hasParts = module
                      .walk([](mlir::ROCDL::BlockIdYOp) {
                        return mlir::WalkResult::interrupt();
                      })
                      .wasInterrupted();
  if (hasParts)
    erase_if(wanted, [](const auto &attribute) {
      return attribute.first == "amdgpu-no-workgroup-id-y";
    });
  // How many groups there are stands in the packet of the dispatch.
  bool countsGroups =
      module
          .walk([](mlir::LLVM::CallIntrinsicOp call) {
            return call.getIntrin() == "llvm.amdgcn.dispatch.ptr"
                       ? mlir::WalkResult::interrupt()
                       : mlir::WalkResult::advance();
          })
          .wasInterrupted();
  if (countsGroups)
    erase_if(wanted, [](const auto &attribute) {
      return attribute.first == "amdgpu-no-dispatch-ptr";
    });
  auto ir = lowerToIR(module, context, **machine, wanted);
  if (failed(ir))
    return mlir::failure();
  if (none_of(**ir, [](const Function &function) {
        return function.getCallingConv() == CallingConv::AMDGPU_KERNEL;
      }))
    return emitCompilerBug(location)
           << arch << ": no function carries rocdl.kernel";
  auto text = emitAssembly(location, std::move(*ir), **machine);
  if (failed(text))
    return mlir::failure();
  auto object = assemble(location, *text, **machine);
  if (failed(object))
    return mlir::failure();
  StringRef bytes(object->data(), object->size());
  std::vector<std::string> missing = undefinedSymbols(bytes);
  for (const std::string &name : missing)
    emitCompilerBug(location)
        << arch << ": L10 object: undefined symbol '" << name
        << "'; a kernel has no library to find it in";
  if (!missing.empty())
    return mlir::failure();
  // HIP's loader reads the symbol table, which stays.
  auto shared = linkShared(location, bytes, {"--hash-style=both"});
  if (failed(shared))
    return mlir::failure();
  Expected<HsaMetadata> metadata = readHsaMetadata(*shared);
  if (!metadata)
    return emitCompilerBug(location)
           << arch << ": " << toString(metadata.takeError());
  return CompiledCode{std::move(*shared),    "hsaco", std::move(*text), "s",
                      metadata->resources(), ""};
}

} // namespace bitpact::codegen
