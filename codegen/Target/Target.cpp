// Target.cpp - names, atoms and diagnostics of targets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace bitpact::codegen {

StringRef nameOf(TargetKind kind) {
  switch (kind) {
  case TargetKind::Cpu:
    return "cpu";
  case TargetKind::Cuda:
    return "cuda";
  case TargetKind::Hip:
    return "hip";
  }
  llvm_unreachable("covered above");
}

Target::~Target() = default;

bool Target::isUsable(const CompileOptions &) const { return true; }

std::string Target::spec() const {
  return (nameOf(kind()) + ":" + arch()).str();
}

bool Target::hasAtom(StringRef name) const {
  return is_contained(capabilities().atoms, name);
}

std::string Target::missingAtomMessage(StringRef name) const {
  return (Twine(spec()) + " has no atom '" + name + "'; it has " +
          join(capabilities().atoms, ", ") + " [A4]")
      .str();
}

mlir::InFlightDiagnostic emitCompilerBug(mlir::Location location) {
  return mlir::emitError(location) << kCompilerBugPrefix;
}

bool isCompilerBug(StringRef message) {
  return message.starts_with(kCompilerBugPrefix);
}

mlir::LogicalResult reportFindings(mlir::Location location, StringRef target,
                                   const std::vector<LintFinding> &findings) {
  for (const LintFinding &finding : findings)
    emitCompilerBug(location) << target << ": " << finding.str();
  return mlir::success(findings.empty());
}

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
}

} // namespace bitpact::codegen
