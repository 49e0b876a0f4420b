// IRPipeline.cpp - translate, lint, optimise, lint, emit
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/IRPipeline.h"
#include "codegen/Target/BrainFloats.h"
#include "codegen/Target/BrainHalves.h"
#include "codegen/Target/Target.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace bitpact::codegen {

TargetOptions exactTargetOptions() {
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.NoInfsFPMath = false;
  options.NoNaNsFPMath = false;
  options.NoSignedZerosFPMath = false;
  return options;
}

mlir::FailureOr<std::unique_ptr<TargetMachine>>
createMachine(mlir::Location location, StringRef triple, StringRef cpu,
              StringRef features) {
  std::string error;
  Triple parsed(triple);
  const llvm::Target *target = TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return emitCompilerBug(location) << error;
  // The level above copies the ends of branches. On GPUs that is all it does: PTX
  // stays the same text, GCN the same loads, waits and registers, and both take a
  // third longer.
  CodeGenOptLevel level =
      parsed.isGPU() ? CodeGenOptLevel::Default : CodeGenOptLevel::Aggressive;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(parsed, cpu, features, exactTargetOptions(),
                                  Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return emitCompilerBug(location) << "no machine for " << triple.str();
  return machine;
}

/// Kernels have no library: a loop must not become a call of memset.
static TargetLibraryInfoImpl noLibrary(const Triple &triple) {
  TargetLibraryInfoImpl info(triple);
  info.disableAllFunctions();
  return info;
}

static void optimise(Module &module, TargetMachine &machine) {
  // Vector shapes belong to the schedule.
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  // No loop reads what a round before it has stored: sums are in registers. To
  // find that out costs a quarter of all passes where bodies are unrolled.
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](StringRef pass, Any) { return pass != "LoopLoadEliminationPass"; });
  PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  TargetLibraryInfoImpl library = noLibrary(machine.getTargetTriple());
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
      .run(module, modules);
}

mlir::FailureOr<std::unique_ptr<Module>>
lowerToIR(mlir::ModuleOp source, LLVMContext &context, TargetMachine &machine,
          const FunctionAttributes &attributes) {
  mlir::Location location = source.getLoc();
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(source, context, "bitpact");
  if (!module)
    return emitCompilerBug(location) << "no LLVM IR for the module";
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  for (Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.setDoesNotThrow();
    function.addFnAttr("no-builtins");
    for (const auto &[key, value] : attributes)
      function.addFnAttr(key, value);
  }
  StringRef target = machine.getTargetCPU();
  if (failed(reportFindings(location, target, lintIR(*module, false))))
    return mlir::failure();
  keepBrainFloatsInHalves(*module);
  widenBrainFloatsInIntegers(*module);
  optimise(*module, machine);
  std::string error;
  raw_string_ostream stream(error);
  if (verifyModule(*module, &stream))
    return emitCompilerBug(location) << "optimised LLVM IR: " << error;
  if (failed(reportFindings(location, target, lintIR(*module, true))))
    return mlir::failure();
  return module;
}

mlir::FailureOr<std::string> emitAssembly(mlir::Location location,
                                          std::unique_ptr<Module> module,
                                          TargetMachine &machine) {
  SmallVector<char, 0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  passes.add(
      new TargetLibraryInfoWrapperPass(noLibrary(machine.getTargetTriple())));
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  CodeGenFileType::AssemblyFile))
    return emitCompilerBug(location) << "the target emits no assembly";
  passes.run(*module);
  return std::string(text.begin(), text.end());
}

} // namespace bitpact::codegen
