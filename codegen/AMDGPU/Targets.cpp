// Targets.cpp - gfx90a, gfx942 and gfx950
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets.h"
#include "codegen/AMDGPU/Lint.h"
#include "codegen/AMDGPU/ObjectCode.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace bitpact::codegen {
namespace {

class HipTarget final : public Target {
public:
  explicit HipTarget(std::string arch,
                     std::vector<std::string> matrixAtoms = {})
      : name(std::move(arch)) {
    facts.subgroupWidth = 64;
    facts.maxThreadsPerCta = 1024;
    // gfx950 has more; what all three have is enough here.
    facts.sharedBytesStatic = 64 * 1024;
    facts.sharedBytesMax = 64 * 1024;
    facts.registers = 512;
    facts.vectorBits = 128;
    facts.nativeAlign = 16;
    facts.atoms = {"dot.fma.f32", "dot.fma.f64"};
    append_range(facts.atoms, matrixAtoms);
  }

  TargetKind kind() const override { return TargetKind::Hip; }
  StringRef arch() const override { return name; }
  /// Code of no setting runs under all of them.
  StringRef features() const override { return "xnack=any sramecc=any"; }
  const Capabilities &capabilities() const override { return facts; }

  mlir::FailureOr<CompiledCode> compile(mlir::ModuleOp module,
                                        const CompileOptions &) const override {
    return compileHip(module, name);
  }

  std::vector<LintFinding>
  lint(const CompiledCode &code,
       const LintExpectation &expected) const override {
    return lintGcn(code.assembly, expected);
  }

private:
  std::string name;
  Capabilities facts;
};

} // namespace

void registerHipTargets(TargetRegistry &registry) {
  // bf16 and f16: CDNA2 flushes subnormals, and of MI350 there is no model.
  registry.add(std::make_unique<HipTarget>("gfx90a"));
  registry.add(std::make_unique<HipTarget>(
      "gfx942", std::vector<std::string>{"dot.cdna3", "dot.cdna3.f16"}));
  registry.add(std::make_unique<HipTarget>("gfx950"));
}

} // namespace bitpact::codegen
