// LintX86.cpp - the rules of the lint on x86-64 instructions
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Lint.h"
#include "codegen/CPU/ObjectLint.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;

namespace bitpact::codegen {
namespace {

std::unique_ptr<Disassembler> disassembler() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
  });
  return std::make_unique<Disassembler>("x86_64-unknown-linux-gnu", "x86-64-v4",
                                        "");
}

/// `vaddps` of `add`: an optional v, the name, a floating-point suffix.
bool isScalarOrPacked(StringRef mnemonic, StringRef base) {
  mnemonic.consume_front("v");
  if (!mnemonic.consume_front(base))
    return false;
  return is_contained({"ss", "sd", "ps", "pd", "sh", "ph"}, mnemonic);
}

bool isFma(StringRef mnemonic) {
  if (!mnemonic.consume_front("vf"))
    return false;
  mnemonic.consume_front("n");
  return mnemonic.starts_with("madd") || mnemonic.starts_with("msub");
}

std::optional<OpKind> countedKind(StringRef mnemonic) {
  static constexpr std::pair<StringLiteral, OpKind> kKinds[] = {
      {"add", OpKind::Add}, {"sub", OpKind::Add},    {"mul", OpKind::Mul},
      {"div", OpKind::Div}, {"sqrt", OpKind::Sqrt},  {"max", OpKind::Max},
      {"min", OpKind::Max}, {"addsub", OpKind::Add}, {"hadd", OpKind::Add},
      {"hsub", OpKind::Add}};
  if (isFma(mnemonic))
    return OpKind::Fma;
  for (const auto &[base, kind] : kKinds)
    if (isScalarOrPacked(mnemonic, base))
      return kind;
  return std::nullopt;
}

class X86Lint final : public ObjectLint {
public:
  using ObjectLint::ObjectLint;

private:
  void visitArithmetic(StringRef mnemonic, const std::string &text) override {
    if (std::optional<OpKind> kind = countedKind(mnemonic))
      ++counts[size_t(*kind)];
    StringRef name = mnemonic;
    name.consume_front("v");
    if (name.starts_with("rcp") || name.starts_with("rsqrt") ||
        name.starts_with("exp2"))
      report(LintRule::L3, text, "approximate");
    if (name.starts_with("cvtne") || name.starts_with("dpbf16") ||
        name.contains("bf16"))
      report(LintRule::L4, text, "flushes subnormals");
    if (is_contained({"ldmxcsr", "fxrstor", "fxrstor64", "xrstor", "xrstor64",
                      "fldcw", "fldenv"},
                     name))
      report(LintRule::L4, text, "changes the floating-point environment");
    StringRef all = text;
    if (all.contains("{rz-sae}") || all.contains("{ru-sae}") ||
        all.contains("{rd-sae}"))
      report(LintRule::L5, text, "an embedded rounding mode");
    if (name == "cvtps2ph" &&
        (all.contains("$1,") || all.contains("$2,") || all.contains("$3,")))
      report(LintRule::L5, text, "an immediate rounding mode");
    if (isFma(mnemonic) && !expected.allowFma)
      report(LintRule::L6, text, "the contract has no fma");
    if ((name.starts_with("tdp") || name.starts_with("tmm")) &&
        expected.atoms.empty())
      report(LintRule::L6, text, "the contract has no fused atom");
    // Every x87 mnemonic begins with f, and nothing else does but fences.
    if (mnemonic.starts_with("f") && !mnemonic.starts_with("fx"))
      report(LintRule::L9, text, "x87");
    if (all.contains("%mm") || mnemonic == "emms")
      report(LintRule::L9, text, "MMX");
  }
};

} // namespace

std::vector<LintFinding> lintX86(ArrayRef<uint8_t> object,
                                 const LintExpectation &expected,
                                 OpCounts *counts) {
  return X86Lint(disassembler(), expected).run(object, counts);
}

} // namespace bitpact::codegen
