// Pipeline.cpp - from contract files to a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline/Pipeline.h"

#include "compiler/Pipeline/Compilation.h"
#include "dialects/Kernel/Tiles.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::pipeline;

std::string pipeline::print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

std::string pipeline::print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text + "\n";
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

/// Passes load the dialects they make, which threads must not do at once.
void Compilation::loadDialects() {
  DialectRegistry registry;
  for (const Job &job : jobs) {
    PassManager manager(context);
    addLowering(manager, *job.target, Phase::Package);
    manager.getDependentDialects(registry);
  }
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();
}

/// Greater for jobs that take longer.
static int64_t weightOf(const Job &job) {
  if (job.proposal.tiles)
    return job.proposal.tiles.getM() * job.proposal.tiles.getN();
  return job.proposal.schedule.getUnroll();
}

LogicalResult Compilation::compileAll() {
  loadDialects();
  // The longest first, so that all threads end together.
  std::vector<Job *> order;
  for (Job &job : jobs)
    order.push_back(&job);
  llvm::stable_sort(order, [](const Job *a, const Job *b) {
    return weightOf(*a) > weightOf(*b);
  });
  std::atomic<int> done = 0;
  std::atomic<bool> failed = false;
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(request.threads));
  std::mutex reporting;
  for (Job *each : order)
    pool.async([&, &job = *each] {
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

/// A line for each contract and target, whether the schedules were tried now or
/// when the cache was filled.
void Compilation::tellLeftOut(CompileResult &result) {
  // Jobs of one contract and one target follow each other.
  for (auto job = jobs.begin(); job != jobs.end();) {
    auto first = job;
    std::vector<std::string> schedules;
    for (; job != jobs.end() && job->contract == first->contract &&
           job->target == first->target;
         ++job)
      if (job->isLeftOut)
        schedules.push_back(job->proposal.text());
    if (schedules.empty())
      continue;
    pact::ContractOp contract = contractOf(first->contract);
    std::string name = contract.getContractName().str(),
                target = first->target->spec();
    contract.emitRemark() << "contract '" << name << "': left out for "
                          << target << ", whose registers do not suffice: "
                          << llvm::join(schedules, "; ");
    for (const std::string &schedule : schedules)
      result.leftOut.push_back({name, target, schedule});
  }
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
                     job.proposal.text() + rangesText(job.proposal) + "\n";
    return result;
  }
  if (failed(compileAll()))
    return failure();
  tellLeftOut(result);
  if (request.stopAfter && !stops(Phase::Package)) {
    for (const Job &job : jobs)
      result.text += job.text;
    return result;
  }
  if (failed(package(result)))
    return failure();
  for (const Job &job : jobs)
    result.fromCache += job.fromCache;
  result.assembled = assembled;
  result.proved = proved;
  if (result.fromCache != int(jobs.size()))
    cache.prune();
  return result;
}

void pipeline::registerDialects(DialectRegistry &registry) {
  registry.insert<pact::PactDialect, kernel::KernelDialect, tile::TileDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect,
                  arith::ArithDialect, cf::ControlFlowDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  codegen::registerTranslations(registry);
}

FailureOr<CompileResult> pipeline::compile(const CompileRequest &request,
                                           const reader::Library &library,
                                           MLIRContext *context,
                                           const Progress &progress) {
  return Compilation(request, library, context, progress).run();
}
