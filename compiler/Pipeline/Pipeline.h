// Pipeline.h - from contract files to a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_PIPELINE_H
#define BITPACT_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/Pipeline/Phases.h"
#include "compiler/Reader/Reader.h"

#include <functional>

namespace bitpact::pipeline {

struct CompileRequest {
  std::vector<std::string> contracts;
  std::string output;
  /// Of a kind (`cuda`) those that lack an atom of a contract are left out.
  /// Empty: CPUs, or where they lack it every target that has it.
  std::vector<std::string> targets;
  std::vector<std::string> roles;
  /// Stop after this phase and give its text instead of a package.
  std::optional<Phase> stopAfter;
  /// A directory that keeps code objects between compilations; empty: none is
  /// kept. The package is the same, byte for byte.
  std::string cache;

  /// Jobs at a time; 0: as many as there are processors. The package is the
  /// same, byte for byte.
  unsigned threads = 0;

  /// Every kernel is proved on trees before code is made of it. Off only in
  /// tests that plant faults which what comes after must find.
  bool proveKernels = true;

  /// For tests that plant faults, and for nothing else: called on the module
  /// of each variant, possibly from several threads, so that every check of
  /// the compiler and of the package meets the changed code.
  /// After `Lower`, before the kernel is verified.
  std::function<void(mlir::ModuleOp)> mutateKernel;
  /// After `Convert`, before code generation.
  std::function<void(mlir::ModuleOp)> mutateLLVM;
};

/// A schedule that the package lacks: registers do not suffice for it, and others
/// of the contract do as well.
struct LeftOut {
  std::string contract, target, schedule;
  bool operator==(const LeftOut &) const = default;
};

struct CompileResult {
  std::vector<std::string> variants;
  /// Each is said in a remark too.
  std::vector<LeftOut> leftOut;
  /// What `stopAfter` asked for.
  std::string text;
  /// Jobs that were taken from the cache.
  int fromCache = 0;
  /// How often code was assembled, and kernels were proved.
  int assembled = 0, proved = 0;
};

using Progress =
    std::function<void(const std::string &what, int done, int total)>;

/// The dialects that the pipeline builds IR of.
void registerDialects(mlir::DialectRegistry &registry);

/// What went wrong goes to the context's diagnostic engine; then nothing is
/// written.
mlir::FailureOr<CompileResult> compile(const CompileRequest &request,
                                       const reader::Library &library,
                                       mlir::MLIRContext *context,
                                       const Progress &progress);

} // namespace bitpact::pipeline

#endif
