// ObjectCode.cpp - LLVM dialect to PTX and cubin
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/ObjectCode.h"
#include "codegen/NVPTX/Ptxas.h"
#include "codegen/Target/IRPipeline.h"
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
  auto ptx = emitPtx(module, arch);
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
