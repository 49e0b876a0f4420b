// Targets.cpp - sm_80, sm_90a and sm_100a
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets.h"
#include "codegen/NVPTX/Lint.h"
#include "codegen/NVPTX/ObjectCode.h"
#include "codegen/NVPTX/Ptxas.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace bitpact::codegen {
namespace {

class CudaTarget final : public Target {
public:
  CudaTarget(std::string arch, unsigned sharedBytesMax, unsigned vectorBits,
             std::vector<std::string> matrixAtoms = {})
      : name(std::move(arch)) {
    facts.subgroupWidth = 32;
    facts.maxThreadsPerCta = 1024;
    facts.sharedBytesStatic = 48 * 1024;
    facts.sharedBytesMax = sharedBytesMax;
    facts.registers = 255;
    facts.vectorBits = vectorBits;
    facts.nativeAlign = vectorBits / 8;
    facts.atoms = {"dot.fma.f32", "dot.fma.f64"};
    append_range(facts.atoms, matrixAtoms);
  }

  TargetKind kind() const override { return TargetKind::Cuda; }
  StringRef arch() const override { return name; }
  const Capabilities &capabilities() const override { return facts; }

  bool isUsable(const CompileOptions &options) const override {
    Expected<PtxasInfo> info = queryPtxas(options);
    if (!info) {
      consumeError(info.takeError());
      return false;
    }
    return is_contained(info->archs, name);
  }

  mlir::FailureOr<CompiledCode>
  compile(mlir::ModuleOp module, const CompileOptions &options) const override {
    return compileCuda(module, name, options);
  }

  std::vector<LintFinding>
  lint(const CompiledCode &code,
       const LintExpectation &expected) const override {
    return lintPtx(code.assembly, expected);
  }

private:
  std::string name;
  Capabilities facts;
};

} // namespace

void registerCudaTargets(TargetRegistry &registry) {
  registry.add(std::make_unique<CudaTarget>(
      "sm_80", 163 * 1024, 128,
      std::vector<std::string>{"dot.nv(8,24)", "dot.nv(8,24).f16"}));
  registry.add(std::make_unique<CudaTarget>(
      "sm_90a", 227 * 1024, 128,
      std::vector<std::string>{"dot.nv(16,25)", "dot.nv(16,25).f16"}));
  registry.add(std::make_unique<CudaTarget>("sm_100a", 227 * 1024, 256));
}

} // namespace bitpact::codegen
