// LintAArch64.cpp - the rules of the lint on AArch64 instructions
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
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
  });
  return std::make_unique<Disassembler>("aarch64-unknown-linux-gnu", "",
                                        "+all");
}

std::optional<OpKind> countedKind(StringRef name) {
  static constexpr std::pair<StringLiteral, OpKind> kKinds[] = {
      {"fadd", OpKind::Add},   {"fsub", OpKind::Add},   {"faddp", OpKind::Add},
      {"fabd", OpKind::Add},   {"fmul", OpKind::Mul},   {"fnmul", OpKind::Mul},
      {"fmla", OpKind::Fma},   {"fmls", OpKind::Fma},   {"fmadd", OpKind::Fma},
      {"fmsub", OpKind::Fma},  {"fnmadd", OpKind::Fma}, {"fnmsub", OpKind::Fma},
      {"fmlal", OpKind::Fma},  {"fmlal2", OpKind::Fma}, {"fmlsl", OpKind::Fma},
      {"fmlsl2", OpKind::Fma}, {"fcmla", OpKind::Fma},  {"fdiv", OpKind::Div},
      {"fsqrt", OpKind::Sqrt}, {"fmax", OpKind::Max},   {"fmin", OpKind::Max},
      {"fmaxp", OpKind::Max},  {"fminp", OpKind::Max},  {"fmaxv", OpKind::Max},
      {"fminv", OpKind::Max}};
  for (const auto &[mnemonic, kind] : kKinds)
    if (name == mnemonic)
      return kind;
  return std::nullopt;
}

class AArch64Lint final : public ObjectLint {
public:
  using ObjectLint::ObjectLint;

private:
  void visitArithmetic(StringRef name, const std::string &text) override {
    std::optional<OpKind> kind = countedKind(name);
    if (kind)
      ++counts[size_t(*kind)];
    if (name.starts_with("frecp") || name.starts_with("frsqrt") ||
        name.starts_with("urecpe") || name.starts_with("ursqrte") ||
        name == "fexpa")
      report(LintRule::L3, text, "approximate");
    // A number instead of the NaN beside it.
    if (name.starts_with("fmaxnm") || name.starts_with("fminnm"))
      report(LintRule::L3, text, "drops NaN");
    if (name == "fmulx")
      report(LintRule::L3, text, "0 times infinity is 2");
    StringRef all = text;
    checkBf16(name, text);
    if (name == "msr" && all.contains_insensitive("fpcr"))
      report(LintRule::L4, text, "changes the floating-point environment");
    // fcvtn and fcvtl follow FPCR; these do not.
    if (name.starts_with("fcvtx"))
      report(LintRule::L5, text, "rounds to odd");
    if (kind == OpKind::Fma && !expected.allowFma)
      report(LintRule::L6, text, "the contract has no fma");
    if ((name.contains("mmla") || name == "fmopa" || name == "bfmopa" ||
         name == "fmops" || name == "fdot") &&
        expected.atoms.empty())
      report(LintRule::L6, text, "the contract has no fused atom");
    if (name.starts_with("ldfadd") || name.starts_with("stfadd") ||
        name.starts_with("ldfmax") || name.starts_with("ldfmin"))
      report(LintRule::L7, text, "a floating-point atomic");
    // The level has neither scalable vectors nor arithmetic on f16.
    if (scalable(all))
      report(LintRule::L9, text, "a scalable vector");
    if (kind && half(all))
      report(LintRule::L9, text, "arithmetic in f16");
  }

  /// bfi and bfxil move bits; bfcvt, bfdot, bfmlal and bfmmla compute.
  void checkBf16(StringRef name, const std::string &text) {
    if (name.starts_with("bfcvt") || name.starts_with("bfdot") ||
        name.starts_with("bfml") || name.starts_with("bfmmla"))
      report(LintRule::L4, text, "flushes subnormals or rounds otherwise");
  }

  /// An operand z3, z3.s or p0/m.
  static bool scalable(StringRef text) {
    for (StringRef operand : operands(text)) {
      operand = operand.ltrim("{[");
      if ((operand.starts_with("z") || operand.starts_with("p")) &&
          operand.size() > 1 && isdigit(operand[1]))
        return true;
    }
    return false;
  }
  /// An operand h3 or v3.8h.
  static bool half(StringRef text) {
    for (StringRef operand : operands(text))
      if ((operand.starts_with("h") && operand.size() > 1 &&
           isdigit(operand[1])) ||
          operand.ends_with(".4h") || operand.ends_with(".8h"))
        return true;
    return false;
  }
  static SmallVector<StringRef> operands(StringRef text) {
    SmallVector<StringRef> parts;
    text.split(' ').second.split(parts, ',', -1, false);
    for (StringRef &part : parts)
      part = part.trim();
    return parts;
  }
};

} // namespace

std::vector<LintFinding> lintAArch64(ArrayRef<uint8_t> object,
                                     const LintExpectation &expected,
                                     OpCounts *counts) {
  return AArch64Lint(disassembler(), expected).run(object, counts);
}

} // namespace bitpact::codegen
