// CompileJob.cpp - one contract, one target and one schedule become code
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Compilation.h"

#include "codegen/AMDGPU/ConvertKernel.h"
#include "codegen/CPU/ConvertKernel.h"
#include "codegen/Lowering/Passes.h"
#include "codegen/Lowering/RowLowering.h"
#include "codegen/Lowering/TileLowering.h"
#include "codegen/Lowering/TileThreads.h"
#include "codegen/NVPTX/ConvertKernel.h"
#include "codegen/NVPTX/GroupDivisions.h"
#include "codegen/NVPTX/HoistLoads.h"
#include "compiler/Interpreter/TileInterpreter.h"
#include "compiler/Pipeline/ClusterLaunches.h"
#include "compiler/Pipeline/Expectation.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pipeline;

/// Rows up to this long are proved element by element.
static constexpr int64_t kLongestProof = 16384;

static std::unique_ptr<Pass> createConversion(const codegen::Target &target) {
  switch (target.kind()) {
  case codegen::TargetKind::Cpu:
    return codegen::createConvertKernelToCPUPass();
  case codegen::TargetKind::Cuda:
    return codegen::createConvertKernelToNVVMPass();
  case codegen::TargetKind::Hip:
    return codegen::createConvertKernelToROCDLPass(target.arch());
  }
  llvm_unreachable("covered above");
}

void pipeline::addLowering(PassManager &manager, const codegen::Target &target,
                           Phase until) {
  codegen::TargetKind kind = target.kind();
  bool gpu = kind != codegen::TargetKind::Cpu;
  // Of the conversions to bf16, that of NVIDIA is specified for subnormals.
  bool keepBf16 = kind == codegen::TargetKind::Cuda;
  OpPassManager &kernels = manager.nest<kernel::FuncOp>();
  if (gpu)
    kernels.addPass(lowering::createDistributePass());
  kernels.addPass(lowering::createExpandNarrowPass(keepBf16));
  if (kind == codegen::TargetKind::Cpu)
    manager.nest<tile::FuncOp>().addPass(
        lowering::createExpandNarrowPass(/*keepBf16=*/false));
  if (until < Phase::Convert)
    return;
  manager.addPass(createConversion(target));
  // What NVVM writes as PTX.
  if (kind == codegen::TargetKind::Cuda)
    manager.addPass(createConvertNVVMToLLVMPass());
  lowering::addToLLVMPasses(manager);
  if (kind == codegen::TargetKind::Cuda) {
    manager.addPass(codegen::createHoistLoadsPass());
    manager.addPass(codegen::createGroupDivisionsPass());
  }
}

/// Once a schedule has been accepted, nothing a user wrote can fail these.
static LogicalResult brokenInvariant(Location location, StringRef what) {
  return codegen::emitCompilerBug(location)
         << what << " failed after the schedule had been accepted";
}

/// Kernels follow from contract and schedule alone, without the target: those
/// of several targets are proved once, and jobs that meet a proof which is being
/// made go on. `key` is what of the schedule is in them.
LogicalResult Compilation::prove(Job &job, Attribute key,
                                 llvm::function_ref<bool()> proof) {
  if (request.mutateKernel)
    return success(proof());
  std::promise<bool> promise;
  {
    std::lock_guard<std::mutex> lock(proofsLock);
    std::shared_future<bool> &slot = proofs[{job.contract, key}];
    bool isKnown = slot.valid();
    if (!isKnown)
      slot = promise.get_future().share();
    job.proof = slot;
    if (isKnown)
      return success();
  }
  ++proved;
  bool holds = false;
  try {
    holds = proof();
  } catch (...) {
    promise.set_value(false);
    throw;
  }
  promise.set_value(holds);
  return success(holds);
}

LogicalResult Compilation::lowerRows(Job &job, ModuleOp module) {
  pact::ContractOp contract = contractOf(job.contract);
  FailureOr<SmallVector<kernel::FuncOp>> kernels =
      lowering::lowerRows(contract, operatorOf(job.contract),
                          job.proposal.schedule, job.entry, module);
  if (succeeded(kernels) && request.mutateKernel)
    request.mutateKernel(module);
  if (failed(kernels) || failed(mlir::verify(module)))
    return brokenInvariant(contract.getLoc(), "lowering");
  auto proof = [&] {
    return succeeded(interpreter::proveSchedule(
        contract, operatorOf(job.contract), *kernels, kLongestProof, &cases));
  };
  if (request.proveKernels && failed(prove(job, job.proposal.schedule, proof)))
    return brokenInvariant(contract.getLoc(), "the proof of the kernel");
  job.kernels.clear();
  NamedAttrList access;
  for (kernel::FuncOp kernel : *kernels) {
    job.kernels.push_back({kernel.getSymName().str(), kernel.getSchedule(),
                           kernel.getSplitAttr()});
    // Those that merge parts see no more of the tensors than the first.
    for (NamedAttribute bound : kernel.getAccessAttr())
      if (!access.get(bound.getName()))
        access.append(bound);
    job.hasScratch |=
        kernel.walk([](kernel::ScratchOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
  }
  job.access = access.getDictionary(context);
  return success();
}

LogicalResult Compilation::lowerTiles(Job &job, ModuleOp module) {
  pact::ContractOp contract = contractOf(job.contract);
  tile::FuncOp kernel =
      lowering::lowerTiles(contract, operatorOf(job.contract),
                           job.proposal.tiles, job.entry, module);
  if (request.mutateKernel)
    request.mutateKernel(module);
  if (failed(mlir::verify(module)))
    return brokenInvariant(contract.getLoc(), "lowering");
  auto proof = [&] {
    return succeeded(interpreter::proveSchedule(
        contract, operatorOf(job.contract), kernel, kLongestProof));
  };
  tile::ScheduleAttr schedule = job.proposal.tiles;
  // How a block lies in registers is the target's affair.
  Attribute key = schedule;
  if (schedule.packsOwn())
    key = StringAttr::get(context,
                          llvm::formatv("own {0} {1} {2} {3}", schedule.getM(),
                                        schedule.getN(), schedule.getK(),
                                        schedule.getGroup())
                              .str());
  if (request.proveKernels && failed(prove(job, key, proof)))
    return brokenInvariant(contract.getLoc(), "the proof of the kernel");
  if (schedule.packsOwn())
    return success();
  if (kernel.getSchedule().sharesCopies()) {
    lowering::TileShare share = lowering::shareOf(kernel);
    job.tiles.threads = share.threads;
    // In code for AMD GPUs it has its size.
    job.tiles.sharedBytes =
        job.target->kind() == codegen::TargetKind::Hip ? 0 : share.sharedBytes;
    return success();
  }
  llvm::Expected<codegen::TileLayout> layout = codegen::layOut(kernel);
  if (!layout)
    return brokenInvariant(contract.getLoc(),
                           llvm::toString(layout.takeError()));
  job.tiles = std::move(*layout);
  if (job.tiles.meeting)
    job.slots = kernel.getSlots();
  return success();
}

/// ptxas says how many registers it used, of those that a thread can have.
static bool spillsForUnrolling(const codegen::Target &target,
                               kernel::ScheduleAttr schedule,
                               const codegen::Resources &used) {
  if (!used.spills || target.kind() != codegen::TargetKind::Cuda)
    return used.spills;
  constexpr int64_t all = 65536, granule = 8;
  int64_t threads = schedule.getLanes() * schedule.getProgramsPerGroup();
  int64_t most =
      std::min<int64_t>(target.capabilities().registers, all / threads);
  return int64_t(used.registers) > most - 2 * granule;
}

LogicalResult Compilation::compileJob(Job &job) {
  pact::ContractOp contract = contractOf(job.contract);
  OwningOpRef<ModuleOp> module = ModuleOp::create(contract.getLoc());
  if (failed(job.proposal.tiles ? lowerTiles(job, *module)
                                : lowerRows(job, *module)))
    return failure();
  if (stops(Phase::Lower)) {
    job.text = print(*module);
    return success();
  }
  PassManager manager(context);
  addLowering(manager, *job.target, request.stopAfter.value_or(Phase::Package));
  if (failed(manager.run(*module)))
    return brokenInvariant(contract.getLoc(), "conversion");
  if (request.mutateLLVM && request.stopAfter != Phase::Distribute) {
    request.mutateLLVM(*module);
    if (failed(mlir::verify(*module)))
      return brokenInvariant(contract.getLoc(), "verification");
  }
  if (stops(Phase::Distribute) || stops(Phase::Convert)) {
    job.text = print(*module);
    return success();
  }
  if (job.slots) {
    auto kernel = module->lookupSymbol<LLVM::LLVMFuncOp>(job.entry);
    auto launches = clusterLaunches(contract, operatorOf(job.contract),
                                    job.proposal.tiles, job.slots);
    if (failed(codegen::reportFindings(contract.getLoc(), job.target->spec(),
                                       codegen::lintCluster(kernel, launches))))
      return failure();
  }
  ++assembled;
  FailureOr<codegen::CompiledCode> code =
      job.target->compile(*module, {{}, &texts});
  if (failed(code))
    return failure();
  // Spilled registers are a schedule that asked for too many of them, if it has
  // as many as there are. What is spilled beside free ones (around the call of a
  // long division, say), or without any unrolling, is kept, and the manifest
  // counts it.
  kernel::ScheduleAttr was = job.proposal.schedule;
  bool lacksRegisters =
      !code->slow.empty() || (job.proposal.tiles && code->resources.spills);
  if (lacksRegisters && job.proposal.mayLack) {
    job.isLeftOut = true;
    return success();
  }
  for (const std::string &text : code->slow)
    codegen::emitCompilerBug(contract.getLoc()) << text;
  if (!code->slow.empty())
    return failure();
  if (lacksRegisters)
    return brokenInvariant(contract.getLoc(), "keeping sums in registers");
  if (spillsForUnrolling(*job.target, was, code->resources) &&
      (was.getUnroll() > 1 || was.getAhead())) {
    job.proposal.schedule =
        was.getAhead() ? was.withAhead(0) : was.withUnroll(was.getUnroll() / 2);
    return compileJob(job);
  }
  if (job.proof.valid() && !job.proof.get())
    return brokenInvariant(contract.getLoc(), "the proof of the kernel");
  job.code = std::move(*code);
  job.text = job.code->assembly;
  if (stops(Phase::Assemble))
    return success();
  codegen::LintExpectation expected =
      expectationOf(contract, operatorOf(job.contract));
  expected.allowLocal = job.hasScratch || job.code->resources.spills;
  return codegen::reportFindings(contract.getLoc(), job.target->spec(),
                                 job.target->lint(*job.code, expected));
}
