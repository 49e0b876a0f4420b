// Compilation.h - one compilation: contracts, targets, jobs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_COMPILATION_H
#define BITPACT_COMPILER_PIPELINE_COMPILATION_H

#include "codegen/NVPTX/TileLayout.h"
#include "codegen/Target/SharedTexts.h"
#include "codegen/Targets.h"
#include "compiler/Interpreter/CasePool.h"
#include "compiler/Pipeline/Cache.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Schedule/Schedule.h"
#include "runtime/package/Format.h"

#include <atomic>
#include <future>
#include <mutex>

namespace mlir {
class PassManager;
}

namespace bitpact::pipeline {

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
  mlir::DictionaryAttr access;
  bool hasScratch = false;
  std::vector<LaunchedKernel> kernels;
  bool fromCache = false;
  codegen::TileLayout tiles;
  /// Of the kernels, where another job proves the same: looked at in the end.
  std::shared_future<bool> proof;
  /// There is no code: registers do not suffice, and other schedules do as well.
  bool isLeftOut = false;
  mlir::ArrayAttr slots = {}; ///< of a kernel whose units meet
};

class Compilation {
public:
  Compilation(const CompileRequest &request, const reader::Library &library,
              mlir::MLIRContext *context, const Progress &progress)
      : request(request), library(library), context(context),
        progress(progress), cache(cacheDirectory(request)) {}

  mlir::FailureOr<CompileResult> run();

private:
  mlir::LogicalResult read();
  mlir::LogicalResult plan();
  mlir::FailureOr<std::vector<const codegen::Target *>>
  targetsOf(size_t contract);
  void loadDialects();
  mlir::LogicalResult compileAll();
  mlir::LogicalResult compileJob(Job &job);
  mlir::LogicalResult prove(Job &job, mlir::Attribute key,
                            llvm::function_ref<bool()> proof);
  mlir::LogicalResult lowerRows(Job &job, mlir::ModuleOp module);
  mlir::LogicalResult lowerTiles(Job &job, mlir::ModuleOp module);
  void describeRows(const Job &job, package::Variant &variant);
  /// What faults are planted in, or what was not proved, is not kept.
  static std::string cacheDirectory(const CompileRequest &request) {
    bool plain = !request.stopAfter && request.proveKernels &&
                 !request.mutateKernel && !request.mutateLLVM;
    return plain && !buildId().empty() ? request.cache : "";
  }
  std::string cacheKey(const Job &job) const;
  bool takeFromCache(Job &job, const std::string &key);
  bool takeTilesFromCache(Job &job, const std::string &key);
  mlir::LogicalResult compileOrTake(Job &job);
  void tellLeftOut(CompileResult &result);
  mlir::LogicalResult package(CompileResult &result);
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
  mlir::MLIRContext *context;
  const Progress &progress;
  std::vector<reader::ReadResult> contracts;
  std::vector<const codegen::Target *> targets;
  std::vector<Job> jobs;
  Cache cache;
  codegen::SharedTexts texts;
  /// By contract and schedule: whether the proof of its kernels succeeds.
  llvm::DenseMap<std::pair<size_t, mlir::Attribute>, std::shared_future<bool>>
      proofs;
  std::mutex proofsLock;
  std::atomic<int> assembled = 0, proved = 0;
  /// Of the contract whose kernels are proved, with what they declare.
  interpreter::CasePool cases;
};

std::string print(mlir::Attribute attribute);
std::string print(mlir::Operation *op);
/// The extents of dims that a proposal is for.
std::string rangesText(const schedule::Proposal &proposal);
/// The passes from a kernel to the target's dialect of LLVM.
void addLowering(mlir::PassManager &manager, const codegen::Target &target,
                 Phase until);

} // namespace bitpact::pipeline

#endif
