// Pipeline.cpp - from contract files to a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Pipeline.h"

#include "codegen/AMDGPU/ConvertKernel.h"
#include "codegen/CPU/ConvertKernel.h"
#include "codegen/Lowering/Passes.h"
#include "codegen/Lowering/RowLowering.h"
#include "codegen/Lowering/TileLowering.h"
#include "codegen/NVPTX/ConvertKernel.h"
#include "codegen/NVPTX/Ptxas.h"
#include "codegen/Package/PackageBuilder.h"
#include "codegen/Targets.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Pipeline/Cache.h"
#include "compiler/Pipeline/Expectation.h"
#include "compiler/Pipeline/TileLaunch.h"
#include "compiler/Schedule/Schedule.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <future>
#include <mutex>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pipeline;
using nlohmann::json;

namespace {

/// Rows up to this long are proved element by element.
constexpr int64_t kLongestProof = 16384;

/// What the package says of a kernel.
struct LaunchedKernel {
  std::string entry;
  kernel::ScheduleAttr schedule;
  kernel::SplitAttr split;
};

/// One contract, one target, one schedule.
struct Job {
  size_t contract;
  const codegen::Target *target;
  schedule::Proposal proposal;
  std::string entry;
  /// What the worker leaves behind.
  std::optional<codegen::CompiledCode> code;
  std::string text;
  DictionaryAttr access;
  bool hasScratch = false;
  std::vector<LaunchedKernel> kernels;
  bool fromCache = false;
  codegen::TileLayout tiles;
};

class Compilation {
public:
  Compilation(const CompileRequest &request, const reader::Library &library,
              MLIRContext *context, const Progress &progress)
      : request(request), library(library), context(context),
        progress(progress), cache(cacheDirectory(request)) {}

  FailureOr<CompileResult> run();

private:
  LogicalResult read();
  LogicalResult plan();
  void loadDialects();
  LogicalResult compileAll();
  LogicalResult compileJob(Job &job);
  LogicalResult prove(const Job &job, ArrayRef<kernel::FuncOp> kernels);
  LogicalResult lowerRows(Job &job, ModuleOp module);
  LogicalResult lowerTiles(Job &job, ModuleOp module);
  void describeRows(const Job &job, package::Variant &variant);
  /// What faults are planted in, or what was not proved, is not kept.
  static std::string cacheDirectory(const CompileRequest &request) {
    bool plain = !request.stopAfter && request.proveKernels &&
                 !request.mutateKernel && !request.mutateLLVM;
    return plain && !buildId().empty() ? request.cache : "";
  }
  std::string cacheKey(const Job &job) const;
  bool takeFromCache(Job &job, const std::string &key);
  LogicalResult compileOrTake(Job &job);
  LogicalResult package(CompileResult &result);
  bool stops(Phase phase) const { return request.stopAfter == phase; }
  void report(const std::string &what, int done, int total) {
    if (progress)
      progress(what, done, total);
  }
  pact::ContractOp contractOf(size_t i) {
    return *contracts[i].module->getOps<pact::ContractOp>().begin();
  }
  pact::OperatorOp operatorOf(size_t i) {
    return *contracts[i].module->getOps<pact::OperatorOp>().begin();
  }

  const CompileRequest &request;
  const reader::Library &library;
  MLIRContext *context;
  const Progress &progress;
  std::vector<reader::ReadResult> contracts;
  std::vector<const codegen::Target *> targets;
  std::vector<Job> jobs;
  Cache cache;
  /// By contract and schedule: whether the proof of its kernels succeeds.
  llvm::DenseMap<std::pair<size_t, Attribute>, std::shared_future<bool>> proofs;
  std::mutex proofsLock;
};

std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text + "\n";
}

std::string rowsText(const schedule::Proposal &proposal) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  std::string text;
  for (const auto &[dim, range] : proposal.dims) {
    if (range.first > 1)
      text += " from " + std::to_string(range.first);
    if (range.second != any)
      text += " up to " + std::to_string(range.second);
    text += " " + dim;
  }
  return text;
}

LogicalResult Compilation::read() {
  for (auto [i, path] : llvm::enumerate(request.contracts)) {
    report("reading " + path, int(i), int(request.contracts.size()));
    FailureOr<reader::ReadResult> one =
        reader::readContract(path, library, context);
    if (failed(one))
      return failure();
    auto same = llvm::find_if(contracts, [&](const reader::ReadResult &other) {
      return other.digest == one->digest;
    });
    // Another spelling of a contract adds nothing to the package.
    if (same == contracts.end())
      contracts.push_back(std::move(*one));
  }
  return success();
}

LogicalResult Compilation::plan() {
  for (const std::string &spec : request.targets) {
    auto named = codegen::builtinTargets().parse(spec);
    if (!named)
      return emitError(UnknownLoc::get(context))
             << llvm::toString(named.takeError());
    for (const codegen::Target *target : *named)
      if (!llvm::is_contained(targets, target))
        targets.push_back(target);
  }
  for (size_t i = 0; i < contracts.size(); ++i)
    for (const codegen::Target *target : targets) {
      auto proposals = schedule::propose(contractOf(i), operatorOf(i), *target,
                                         request.roles);
      if (failed(proposals))
        return failure();
      for (auto [n, proposal] : llvm::enumerate(*proposals))
        jobs.push_back({i,
                        target,
                        proposal,
                        "bitpact_" + operatorOf(i).getSymName().str() + "_" +
                            contracts[i].digest.substr(0, 12) + "_" +
                            std::to_string(n),
                        {},
                        {},
                        {},
                        false,
                        {},
                        false,
                        {}});
    }
  return success();
}

std::unique_ptr<Pass> createConversion(codegen::TargetKind kind) {
  switch (kind) {
  case codegen::TargetKind::Cpu:
    return codegen::createConvertKernelToCPUPass();
  case codegen::TargetKind::Cuda:
    return codegen::createConvertKernelToNVVMPass();
  case codegen::TargetKind::Hip:
    return codegen::createConvertKernelToROCDLPass();
  }
  llvm_unreachable("covered above");
}

void addLowering(PassManager &manager, codegen::TargetKind kind, Phase until) {
  bool gpu = kind != codegen::TargetKind::Cpu;
  // Of the conversions to bf16, that of NVIDIA is specified for subnormals.
  bool keepBf16 = kind == codegen::TargetKind::Cuda;
  OpPassManager &kernels = manager.nest<kernel::FuncOp>();
  if (gpu)
    kernels.addPass(lowering::createDistributePass());
  kernels.addPass(lowering::createExpandNarrowPass(keepBf16));
  if (until < Phase::Convert)
    return;
  manager.addPass(createConversion(kind));
  // What NVVM writes as PTX.
  if (kind == codegen::TargetKind::Cuda)
    manager.addPass(createConvertNVVMToLLVMPass());
  lowering::addToLLVMPasses(manager);
}

/// Once a schedule has been accepted, nothing a user wrote can fail these.
LogicalResult brokenInvariant(Location location, StringRef what) {
  return codegen::emitCompilerBug(location)
         << what << " failed after the schedule had been accepted";
}

/// Kernels follow from contract and schedule alone, without the target: those of
/// several targets are proved once.
LogicalResult Compilation::prove(const Job &job,
                                 ArrayRef<kernel::FuncOp> kernels) {
  auto proof = [&] {
    return succeeded(interpreter::proveSchedule(contractOf(job.contract),
                                                operatorOf(job.contract),
                                                kernels, kLongestProof));
  };
  if (request.mutateKernel)
    return success(proof());
  std::promise<bool> promise;
  std::shared_future<bool> known;
  {
    std::lock_guard<std::mutex> lock(proofsLock);
    std::shared_future<bool> &slot =
        proofs[{job.contract, job.proposal.schedule}];
    if (slot.valid())
      known = slot;
    else
      slot = promise.get_future().share();
  }
  if (known.valid())
    return success(known.get());
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
  if (request.proveKernels && failed(prove(job, *kernels)))
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
  llvm::Expected<codegen::TileLayout> layout = codegen::layOut(kernel);
  if (!layout)
    return brokenInvariant(contract.getLoc(),
                           llvm::toString(layout.takeError()));
  job.tiles = std::move(*layout);
  return success();
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
  addLowering(manager, job.target->kind(),
              request.stopAfter.value_or(Phase::Package));
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
  FailureOr<codegen::CompiledCode> code = job.target->compile(*module, {});
  if (failed(code))
    return failure();
  // Spilled registers are a schedule that asked for too many of them. What is
  // spilled without any unrolling (around the call of a long division, say) is
  // kept, and the manifest counts it.
  kernel::ScheduleAttr was = job.proposal.schedule;
  if (job.proposal.tiles && code->resources.spills)
    return brokenInvariant(contract.getLoc(), "keeping sums in registers");
  if (code->resources.spills && (was.getUnroll() > 1 || was.getAhead())) {
    job.proposal.schedule = was.getAhead() ? was.withAhead(0)
                                           : was.withUnroll(was.getUnroll() / 2);
    return compileJob(job);
  }
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

/// Everything that the code depends on. The canonical text has the operator and
/// the primitives in it.
std::string Compilation::cacheKey(const Job &job) const {
  std::string assembler;
  if (job.target->kind() == codegen::TargetKind::Cuda) {
    if (auto ptxas = codegen::queryPtxas({}))
      assembler = "ptxas " + ptxas->version;
    else
      llvm::consumeError(ptxas.takeError()); // compiling will say it
  }
  const reader::ReadResult &contract = contracts[job.contract];
  return json{{"compiler", buildId()},
              {"assembler", assembler},
              {"contract",
               package::sha256Hex(package::canonicalText(contract.canonical))},
              {"target", job.target->spec()},
              {"features", job.target->features().str()},
              {"entry", job.entry},
              {"schedule", print(job.proposal.schedule)}}
      .dump();
}

bool Compilation::takeFromCache(Job &job, const std::string &key) {
  std::optional<Cache::Entry> entry = cache.find(key);
  if (!entry)
    return false;
  auto schedule = dyn_cast_or_null<kernel::ScheduleAttr>(
      parseAttribute(entry->schedule, context));
  auto access =
      dyn_cast_or_null<DictionaryAttr>(parseAttribute(entry->access, context));
  std::vector<LaunchedKernel> kernels;
  for (const Cache::Entry::Kernel &kernel : entry->kernels) {
    auto own = dyn_cast_or_null<kernel::ScheduleAttr>(
        parseAttribute(kernel.schedule, context));
    kernel::SplitAttr split;
    if (!kernel.split.empty())
      split = dyn_cast_or_null<kernel::SplitAttr>(
          parseAttribute(kernel.split, context));
    if (!own || (!kernel.split.empty() && !split))
      return false;
    kernels.push_back({kernel.entry, own, split});
  }
  if (!schedule || !access || kernels.empty())
    return false;
  job.kernels = std::move(kernels);
  job.proposal.schedule = schedule;
  job.access = access;
  job.code = std::move(entry->code);
  job.fromCache = true;
  return true;
}

LogicalResult Compilation::compileOrTake(Job &job) {
  // An entry says nothing of tensor maps.
  if (!cache.isOn() || job.proposal.tiles)
    return compileJob(job);
  std::string key = cacheKey(job);
  if (takeFromCache(job, key))
    return success();
  if (failed(compileJob(job)))
    return failure();
  std::vector<Cache::Entry::Kernel> kernels;
  for (const LaunchedKernel &kernel : job.kernels)
    kernels.push_back({kernel.entry, print(kernel.schedule),
                       kernel.split ? print(kernel.split) : ""});
  cache.store(key, {*job.code, print(job.proposal.schedule),
                    job.access ? print(job.access) : "{}", kernels});
  return success();
}

/// Passes load the dialects they make, which threads must not do at once.
void Compilation::loadDialects() {
  DialectRegistry registry;
  for (const Job &job : jobs) {
    PassManager manager(context);
    addLowering(manager, job.target->kind(), Phase::Package);
    manager.getDependentDialects(registry);
  }
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();
}

LogicalResult Compilation::compileAll() {
  loadDialects();
  std::atomic<int> done = 0;
  std::atomic<bool> failed = false;
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
  std::mutex reporting;
  for (Job &job : jobs)
    pool.async([&] {
      if (failed)
        return;
      // The pool would keep an exception to itself.
      try {
        if (mlir::failed(compileOrTake(job)))
          failed = true;
      } catch (const std::exception &error) {
        codegen::emitCompilerBug(contractOf(job.contract).getLoc())
            << error.what();
        failed = true;
      }
      std::lock_guard<std::mutex> lock(reporting);
      report("compiling for " + job.target->spec(), ++done, int(jobs.size()));
    });
  pool.wait();
  return mlir::failure(failed);
}

package::Launch launchOf(const LaunchedKernel &kernel,
                         const lowering::RowFamily &family,
                         const codegen::Target &target) {
  package::Launch launch;
  kernel::ScheduleAttr schedule = kernel.schedule;
  if (target.kind() != codegen::TargetKind::Cpu)
    launch.threads = schedule.getLanes() * schedule.getProgramsPerGroup();
  launch.programsPerCta = schedule.getProgramsPerGroup();
  launch.rowsPerProgram = schedule.rowsPerProgram();
  if (!family.rowDim.empty())
    launch.parallelDims = {family.rowDim};
  if (kernel.split)
    launch.split = {kernel.split.getDim().str(), kernel.split.getLength(),
                    kernel.split.getLess()};
  return launch;
}

void Compilation::describeRows(const Job &job, package::Variant &variant) {
  pact::ContractOp contract = contractOf(job.contract);
  pact::OperatorOp op = operatorOf(job.contract);
  lowering::RowFamily family =
      llvm::cantFail(lowering::rowFamily(contract, op));
  variant.launch = launchOf(job.kernels.front(), family, *job.target);
  for (const LaunchedKernel &next : ArrayRef(job.kernels).drop_front())
    variant.then.push_back({next.entry, launchOf(next, family, *job.target)});
  variant.workspace =
      lowering::workspaceOf(contract, op, job.proposal.schedule);
  for (NamedAttribute bound : job.access) {
    std::string tensor = bound.getName().str();
    int64_t bytes = cast<IntegerAttr>(bound.getValue()).getInt();
    Type element = cast<TypeAttr>(contract.getTypes().get(tensor)).getValue();
    variant.when.align[tensor] = bytes;
    variant.when.strideMultiple[tensor] =
        bytes / (element.getIntOrFloatBitWidth() / 8);
  }
}

LogicalResult Compilation::package(CompileResult &result) {
  codegen::PackageBuilder builder;
  for (const reader::ReadResult &contract : contracts)
    builder.addContract(contract.canonical, contract.digest);
  for (const Job &job : jobs) {
    package::Variant variant;
    variant.contract = contracts[job.contract].digest;
    variant.roles = job.proposal.roles;
    variant.priority = job.proposal.priority;
    variant.entry = job.entry;
    variant.schedule = job.proposal.text();
    // No AMD GPU has run it: the lint and the published ISA stand behind it.
    if (job.target->kind() == codegen::TargetKind::Hip)
      variant.evidence = package::Evidence::Model;
    if (job.proposal.tiles)
      describeTiles(contractOf(job.contract), operatorOf(job.contract),
                    job.proposal.tiles, job.tiles, variant);
    else
      describeRows(job, variant);
    for (const auto &[dim, range] : job.proposal.dims)
      variant.when.dims[dim] = {range.first, range.second};
    result.variants.push_back(
        builder.addVariant(variant, *job.target, *job.code));
  }
  if (llvm::Error error = builder.write(request.output))
    return emitError(UnknownLoc::get(context))
           << llvm::toString(std::move(error));
  return success();
}

FailureOr<CompileResult> Compilation::run() {
  CompileResult result;
  if (failed(read()))
    return failure();
  if (stops(Phase::Read)) {
    for (reader::ReadResult &contract : contracts)
      result.text += print(*contract.module);
    return result;
  }
  if (failed(plan()))
    return failure();
  if (stops(Phase::Schedule)) {
    for (const Job &job : jobs)
      result.text += job.entry + " " + job.target->spec() + " [" +
                     llvm::join(job.proposal.roles, " ") + "] " +
                     job.proposal.text() + rowsText(job.proposal) +
                     "\n";
    return result;
  }
  if (failed(compileAll()))
    return failure();
  if (request.stopAfter && !stops(Phase::Package)) {
    for (const Job &job : jobs)
      result.text += job.text;
    return result;
  }
  if (failed(package(result)))
    return failure();
  for (const Job &job : jobs)
    result.fromCache += job.fromCache;
  if (result.fromCache != int(jobs.size()))
    cache.prune();
  return result;
}

} // namespace

void pipeline::registerDialects(DialectRegistry &registry) {
  registry.insert<pact::PactDialect, kernel::KernelDialect, tile::TileDialect,
                  LLVM::LLVMDialect,
                  NVVM::NVVMDialect, ROCDL::ROCDLDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, scf::SCFDialect, ub::UBDialect,
                  vector::VectorDialect>();
  codegen::registerTranslations(registry);
}

FailureOr<CompileResult> pipeline::compile(const CompileRequest &request,
                                           const reader::Library &library,
                                           MLIRContext *context,
                                           const Progress &progress) {
  return Compilation(request, library, context, progress).run();
}
