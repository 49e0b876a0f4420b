// Target.h - what a target is: facts, object code, lint
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_TARGET_H
#define BITPACT_CODEGEN_TARGET_TARGET_H

#include "codegen/Target/Lint.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace bitpact::codegen {

class SharedTexts;

enum class TargetKind { Cpu, Cuda, Hip };

/// The name in a manifest and before the colon of a target: cpu, cuda, hip.
llvm::StringRef nameOf(TargetKind kind);

/// What a schedule may rely on. Facts of the architecture, never of a device
/// found on the compiling machine: that would make the bytes of a package
/// depend on where it was built.
struct Capabilities {
  /// Lanes in lockstep; 1 on a CPU, where lanes are vector elements.
  unsigned subgroupWidth = 1;
  unsigned maxThreadsPerCta = 1;
  /// Shared memory a CTA may have without and with asking the driver.
  unsigned sharedBytesStatic = 0;
  unsigned sharedBytesMax = 0;
  /// 32-bit registers of a thread (GPU) or vector registers (CPU).
  unsigned registers = 0;
  /// Widest load of one lane (GPU) or vector register (CPU), in bits.
  unsigned vectorBits = 0;
  /// Alignment in bytes at which the widest access is at its best.
  unsigned nativeAlign = 0;
  /// Dot atoms for which there is code on this target (rule A4).
  std::vector<std::string> atoms;
};

/// As the assembler (ptxas) or the object file states it.
struct Resources {
  unsigned registers = 0;
  unsigned shared = 0;
  unsigned local = 0;
  unsigned spills = 0;
};

struct CompiledCode {
  std::vector<uint8_t> object;
  std::string objectSuffix;   // cubin, hsaco, so
  std::string assembly;       // what the lint reads and `inspect` shows
  std::string assemblySuffix; // ptx, s
  Resources resources;
  /// Tools that made it, for the package's producer record.
  std::string assemblerVersion;
  /// What the assembler says of code that it had to make slow, which is no code
  /// to keep: matrix instructions that wait for each other.
  std::vector<std::string> slow;
};

/// None of these can change a bit of any result.
struct CompileOptions {
  /// ptxas to run; empty: PATH, /usr/local/cuda/bin, the pip wheel.
  std::string ptxasPath;
  /// Where targets find the text that another has made, or null.
  SharedTexts *texts = nullptr;
};

class Target {
public:
  virtual ~Target();
  virtual TargetKind kind() const = 0;
  /// sm_90a, x86-64-v3, …
  virtual llvm::StringRef arch() const = 0;
  /// Settings of a device that the code asks for or leaves open (hip).
  virtual llvm::StringRef features() const { return ""; }
  virtual const Capabilities &capabilities() const = 0;

  /// Whether the tools that are installed can produce code for it.
  virtual bool isUsable(const CompileOptions &options) const;

  /// Consumes a module in the LLVM dialect. Kernels are `llvm.func` with
  /// `nvvm.kernel` or `rocdl.kernel` (GPU) or with external linkage (CPU). Says
  /// what failed on the module's diagnostic engine.
  virtual mlir::FailureOr<CompiledCode>
  compile(mlir::ModuleOp module, const CompileOptions &options) const = 0;

  virtual std::vector<LintFinding>
  lint(const CompiledCode &code, const LintExpectation &expected) const = 0;

  /// `cuda:sm_90a`
  std::string spec() const;
  bool hasAtom(llvm::StringRef name) const;
  /// Text of rule A4 for an atom that is missing here.
  std::string missingAtomMessage(llvm::StringRef name) const;
};

/// A failure that no contract file can cause: exit code 70, never 2.
inline constexpr llvm::StringLiteral kCompilerBugPrefix = "compiler bug: ";
mlir::InFlightDiagnostic emitCompilerBug(mlir::Location location);
bool isCompilerBug(llvm::StringRef message);

/// Emits every finding as a compiler bug; success if there is none.
mlir::LogicalResult reportFindings(mlir::Location location,
                                   llvm::StringRef target,
                                   const std::vector<LintFinding> &findings);

/// Translations to LLVM IR that compile() needs in the context.
void registerTranslations(mlir::DialectRegistry &registry);

} // namespace bitpact::codegen

#endif
