// Lint.cpp - disassembles an x86-64 object and reads every instruction
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Lint.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>
#include <optional>

using namespace llvm;

namespace bitpact::codegen {
namespace {

/// LLVM's disassembler for x86-64, of any level: the lint must be able to
/// read what must not be there.
struct Disassembler {
  Disassembler() {
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86Disassembler();
    });
    Triple triple("x86_64-unknown-linux-gnu");
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    registers.reset(target->createMCRegInfo(triple));
    assembler.reset(target->createMCAsmInfo(*registers, triple, options));
    instructions.reset(target->createMCInstrInfo());
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    subtarget.reset(target->createMCSubtargetInfo(triple, "x86-64-v4", ""));
    context.emplace(triple, assembler.get(), registers.get(), subtarget.get());
    decoder.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, 0, *assembler,
                                              *instructions, *registers));
  }

  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembler;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCInstrAnalysis> analysis;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::optional<MCContext> context;
  std::unique_ptr<MCDisassembler> decoder;
  std::unique_ptr<MCInstPrinter> printer;
};

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

class X86Lint {
public:
  X86Lint(const LintExpectation &expected) : expected(expected) {}

  void visitSection(const object::SectionRef &section) {
    Expected<StringRef> name = section.getName();
    Expected<StringRef> contents = section.getContents();
    if (!name || !contents) {
      consumeError(name.takeError());
      consumeError(contents.takeError());
      report(LintRule::L12, "", "a section cannot be read");
      return;
    }
    base = *name;
    begin = section.getAddress();
    end = begin + contents->size();
    ArrayRef<uint8_t> bytes = arrayRefFromStringRef(*contents);
    for (uint64_t size = 1;
         (offset = end - begin - bytes.size(), !bytes.empty());
         bytes = bytes.drop_front(std::min<size_t>(size, bytes.size()))) {
      MCInst instruction;
      if (tools.decoder->getInstruction(instruction, size, bytes,
                                        begin + offset,
                                        nulls()) == MCDisassembler::Success) {
        visit(instruction, size);
        continue;
      }
      report(LintRule::L12, toHex(bytes.take_front(8)), "not an instruction");
      size = std::max<uint64_t>(size, 1);
    }
  }

  void report(LintRule rule, std::string text, std::string message) {
    std::string where =
        base.empty() ? "object" : base + "+0x" + utohexstr(offset, true);
    findings.push_back({rule, std::move(text), where, std::move(message)});
  }

  OpCounts counts{};
  std::vector<LintFinding> findings;

private:
  void visit(const MCInst &instruction, uint64_t size) {
    std::string text;
    raw_string_ostream stream(text);
    tools.printer->printInst(&instruction, begin + offset, "", *tools.subtarget,
                             stream);
    std::replace(text.begin(), text.end(), '\t', ' ');
    text = StringRef(text).trim().str();
    StringRef mnemonic = StringRef(text).split(' ').first;
    visitArithmetic(mnemonic, text);
    visitControl(instruction, size, text);
    if (std::optional<OpKind> kind = countedKind(mnemonic))
      ++counts[size_t(*kind)];
  }

  void visitArithmetic(StringRef mnemonic, const std::string &text) {
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
        !expected.allowMatrix)
      report(LintRule::L6, text, "the contract has no fused atom");
    // Every x87 mnemonic begins with f, and nothing else does but fences.
    if (mnemonic.starts_with("f") && !mnemonic.starts_with("fx"))
      report(LintRule::L9, text, "x87");
    if (all.contains("%mm") || mnemonic == "emms")
      report(LintRule::L9, text, "MMX");
  }

  void visitControl(const MCInst &instruction, uint64_t size,
                    const std::string &text) {
    const MCInstrAnalysis &analysis = *tools.analysis;
    bool isCall = analysis.isCall(instruction);
    if (!isCall && !analysis.isBranch(instruction))
      return;
    uint64_t target;
    if (analysis.evaluateBranch(instruction, begin + offset, size, target)) {
      if (target < begin || target >= end)
        report(LintRule::L10, text, "leaves the section");
    } else if (isCall) {
      report(LintRule::L10, text, "an indirect call may leave the object");
    }
    // An indirect jump is a switch's table.
  }

  const LintExpectation &expected;
  Disassembler tools;
  std::string base;
  uint64_t begin = 0, end = 0, offset = 0;
};

} // namespace

std::vector<LintFinding> lintX86(ArrayRef<uint8_t> object,
                                 const LintExpectation &expected,
                                 OpCounts *counts) {
  X86Lint lint(expected);
  auto file = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(toStringRef(object), "object"));
  if (!file) {
    lint.report(LintRule::L12, "", toString(file.takeError()));
    return std::move(lint.findings);
  }
  for (const object::SectionRef &section : (*file)->sections())
    if (section.isText())
      lint.visitSection(section);
  checkCounts(lint.counts, expected, lint.findings);
  if (counts)
    *counts = lint.counts;
  return std::move(lint.findings);
}

} // namespace bitpact::codegen
