// Module.h - LLVM-dialect modules from text, and what is said about them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_CODEGEN_MODULE_H
#define BITPACT_TESTS_UNIT_CODEGEN_MODULE_H

#include "codegen/Targets.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

namespace bitpact::codegen {

struct TestModule {
  explicit TestModule(const std::string &text)
      : context(registry()), handler(&context, [this](mlir::Diagnostic &what) {
          said += what.str() + "\n";
        }) {
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    INFO(said);
    REQUIRE(module);
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry result;
    result.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::ROCDL::ROCDLDialect>();
    registerTranslations(result);
    return result;
  }

  mlir::FailureOr<CompiledCode> compile(const char *spec,
                                        const CompileOptions &options = {}) {
    const Target *target = builtinTargets().find(spec);
    REQUIRE(target);
    return target->compile(*module, options);
  }

  std::string said;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// y = BODY(x[0], x[1], x[2]) as `attributes` function f(x, y): the body names
/// %a, %b, %c and sets %r, all of `type`.
inline std::string unary3(const std::string &body,
                          const std::string &attributes = "",
                          const std::string &type = "f32") {
  std::string text =
      "llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr) " + attributes + " {\n";
  for (int i = 0; i < 3; ++i) {
    std::string n(1, char('a' + i));
    text += "%p" + n + " = llvm.getelementptr %x[" + std::to_string(i) +
            "] : (!llvm.ptr) -> !llvm.ptr, " + type + "\n%" + n +
            " = llvm.load %p" + n + " : !llvm.ptr -> " + type + "\n";
  }
  return text + body + "\nllvm.store %r, %y : " + type +
         ", !llvm.ptr\nllvm.return\n}\n";
}

inline const char *const kKernel = "attributes {nvvm.kernel}";
inline const char *const kMulAdd =
    "%m = llvm.fmul %a, %b : f32\n%r = llvm.fadd %m, %c : f32";
inline const char *const kFma =
    "%r = llvm.intr.fma(%a, %b, %c) : (f32, f32, f32) -> f32";
inline const char *const kDivSqrt =
    "%s = llvm.intr.sqrt(%b) : (f32) -> f32\n%r = llvm.fdiv %a, %s : f32";

/// Sum of squares as an fma chain, mean, 1/sqrt, scale: y[i] = x[i] * r.
inline std::string normRow(const std::string &attributes = "") {
  return "llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %n: i64) " + attributes +
         R"( {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %one = llvm.mlir.constant(1.0 : f32) : f32
  llvm.br ^sum(%c0, %zero : i64, f32)
^sum(%i: i64, %acc: f32):
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %p : !llvm.ptr -> f32
  %next = llvm.intr.fma(%v, %v, %acc) : (f32, f32, f32) -> f32
  %i1 = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %i1, %n : i64
  llvm.cond_br %more, ^sum(%i1, %next : i64, f32), ^mean
^mean:
  %nf = llvm.sitofp %n : i64 to f32
  %mean = llvm.fdiv %next, %nf : f32
  %root = llvm.intr.sqrt(%mean) : (f32) -> f32
  %r = llvm.fdiv %one, %root : f32
  llvm.br ^scale(%c0 : i64)
^scale(%j: i64):
  %q = llvm.getelementptr %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %w = llvm.load %q : !llvm.ptr -> f32
  %o = llvm.fmul %w, %r : f32
  %s = llvm.getelementptr %y[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %o, %s : f32, !llvm.ptr
  %j1 = llvm.add %j, %c1 : i64
  %again = llvm.icmp "slt" %j1, %n : i64
  llvm.cond_br %again, ^scale(%j1 : i64), ^done
^done:
  llvm.return
})";
}

/// Whether `rule` was found on an instruction that contains `text`.
inline bool found(const std::vector<LintFinding> &findings, LintRule rule,
                  llvm::StringRef text) {
  for (const LintFinding &finding : findings)
    if (finding.rule == rule &&
        llvm::StringRef(finding.instruction).contains(text))
      return true;
  return false;
}

inline std::string listOf(const std::vector<LintFinding> &findings) {
  std::string text;
  for (const LintFinding &finding : findings)
    text += finding.str() + "\n";
  return text;
}

} // namespace bitpact::codegen

#endif
