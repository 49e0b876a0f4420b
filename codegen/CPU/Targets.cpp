// Targets.cpp - x86-64-v3, x86-64-v4 and aarch64
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets.h"
#include "codegen/CPU/Lint.h"
#include "codegen/CPU/ObjectCode.h"

using namespace llvm;

namespace bitpact::codegen {
namespace {

class CpuTarget final : public Target {
public:
  CpuTarget(std::string arch, unsigned vectorBits, unsigned registers)
      : name(std::move(arch)) {
    facts.registers = registers;
    facts.vectorBits = vectorBits;
    facts.nativeAlign = vectorBits / 8;
    // Of matrix units in integers (codegen/CPU/PanelAtoms.cpp).
    facts.atoms = {"dot.fma.f32",       "dot.fma.f64",
                   "dot.nv(16,25)",     "dot.nv(16,25).f16",
                   "dot.nv(8,25)",      "dot.nv(8,25).f16",
                   "dot.nv(8,24)",      "dot.nv(8,24).f16",
                   "dot.cdna3",         "dot.cdna3.f16"};
  }

  TargetKind kind() const override { return TargetKind::Cpu; }
  StringRef arch() const override { return name; }
  const Capabilities &capabilities() const override { return facts; }

  mlir::FailureOr<CompiledCode>
  compile(mlir::ModuleOp module, const CompileOptions &options) const override {
    return compileCpu(module, name, options);
  }

  std::vector<LintFinding>
  lint(const CompiledCode &code,
       const LintExpectation &expected) const override {
    return name == "aarch64" ? lintAArch64(code.object, expected)
                             : lintX86(code.object, expected);
  }

private:
  std::string name;
  Capabilities facts;
};

} // namespace

void registerCpuTargets(TargetRegistry &registry) {
  registry.add(std::make_unique<CpuTarget>("x86-64-v3", 256, 16));
  registry.add(std::make_unique<CpuTarget>("x86-64-v4", 512, 32));
  registry.add(std::make_unique<CpuTarget>("aarch64", 128, 32));
}

} // namespace bitpact::codegen
