// ObjectCode.cpp - LLVM dialect to PTX and cubin
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ObjectCode.h"
#include "codegen/NVPTX/Ptxas.h"
#include "codegen/NVPTX/Quotients.h"
#include "codegen/Target/IRPipeline.h"
#include "codegen/Target/SharedTexts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;

namespace bitpact::codegen {

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// The PTX version is fixed for each architecture, so that the text does not
/// move with the toolkit; ptxas of CUDA 13 reads all of them.
static StringRef ptxVersion(StringRef arch) {
  if (arch.starts_with("sm_1"))
    return "+ptx86";
  return arch == "sm_90a" ? "+ptx81" : "+ptx80"; // stores to other CTAs
}

/// LLVM's text of what has no instructions of an architecture's own names that
/// architecture, and is the same but for that. sm_100a has wider loads.
static constexpr StringLiteral kCommonArch = "sm_80";
static constexpr StringLiteral kSharingArchs[] = {"sm_80", "sm_90a"};

mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, StringRef arch) {
  initialize();
  auto machine = createMachine(module.getLoc(), "nvptx64-nvidia-cuda", arch,
                               ptxVersion(arch));
  if (failed(machine))
    return mlir::failure();
  LLVMContext context;
  auto ir = lowerToIR(module, context, **machine);
  if (failed(ir))
    return mlir::failure();
  if (none_of(**ir, [](const Function &function) {
        return function.getCallingConv() == CallingConv::PTX_Kernel;
      }))
    return emitCompilerBug(module.getLoc())
           << arch << ": no function carries nvvm.kernel";
  return emitAssembly(module.getLoc(), std::move(*ir), **machine);
}

bool isCommon(mlir::ModuleOp module) {
  auto isOwn = [](mlir::Operation *op) {
    if (auto assembly = llvm::dyn_cast<mlir::LLVM::InlineAsmOp>(op))
      return !isQuotients(assembly.getAsmString());
    return llvm::isa<mlir::NVVM::NVVMDialect>(op->getDialect())
               ? !llvm::isa<mlir::NVVM::ThreadIdXOp, mlir::NVVM::BlockIdXOp,
                            mlir::NVVM::BlockIdYOp, mlir::NVVM::GridDimXOp,
                            mlir::NVVM::ShflOp, mlir::NVVM::BarrierOp>(op)
               : llvm::isa<mlir::LLVM::CallIntrinsicOp>(op);
  };
  return !module
              .walk([&](mlir::Operation *op) {
                return isOwn(op) ? mlir::WalkResult::interrupt()
                                 : mlir::WalkResult::advance();
              })
              .wasInterrupted();
}

/// The text of the oldest of the architectures that have it in common, for
/// `arch`.
static mlir::FailureOr<std::string> commonPtx(mlir::ModuleOp module,
                                              StringRef arch,
                                              SharedTexts *texts) {
  auto make = [&]() -> std::optional<std::string> {
    auto ptx = emitPtx(module, kCommonArch);
    return failed(ptx) ? std::nullopt : std::optional(std::move(*ptx));
  };
  std::string key;
  raw_string_ostream(key) << module;
  std::optional<std::string> ptx = texts ? texts->get(key, make) : make();
  if (!ptx)
    return mlir::failure();
  std::string was = ".target " + kCommonArch.str() + "\n";
  size_t at = ptx->find(was);
  if (at == ptx->npos)
    return emitCompilerBug(module.getLoc()) << "PTX without " << was;
  return ptx->replace(at, was.size(), (".target " + arch + "\n").str());
}

mlir::FailureOr<CompiledCode> compileCuda(mlir::ModuleOp module, StringRef arch,
                                          const CompileOptions &options) {
  // Asked first: without an assembler nothing below is worth its time.
  Expected<PtxasInfo> info = queryPtxas(options);
  if (!info)
    return mlir::emitError(module.getLoc()) << toString(info.takeError());
  if (!is_contained(info->archs, arch))
    return mlir::emitError(module.getLoc())
           << info->path << " (version " << info->version << ") does not know "
           << arch << "; it knows " << join(info->archs, ", ");
  bool isShared = is_contained(kSharingArchs, arch) && isCommon(module);
  auto ptx = isShared ? commonPtx(module, arch, options.texts)
                      : emitPtx(module, arch);
  if (failed(ptx))
    return mlir::failure();
  Expected<PtxasResult> result = runPtxas(*ptx, arch, options);
  if (!result)
    return emitCompilerBug(module.getLoc())
           << arch << ": " << toString(result.takeError());
  CompiledCode code{std::move(result->cubin), "cubin",
                    std::move(*ptx),          "ptx",
                    result->report.resources, result->version, {}};
  for (const std::string &failure : result->report.failures)
    code.slow.push_back(arch.str() + ": ptxas: " + failure);
  return code;
}

} // namespace bitpact::codegen
