// ObjectLint.h - disassembles an object and hands every instruction to rules
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_CPU_OBJECTLINT_H
#define BITPACT_CODEGEN_CPU_OBJECTLINT_H

#include "codegen/Target/Lint.h"
#include "llvm/ADT/ArrayRef.h"
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
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>

namespace bitpact::codegen {

/// LLVM's disassembler for every extension of an architecture: the lint must
/// be able to read what must not be there. The target must be initialised.
struct Disassembler {
  Disassembler(llvm::StringRef triple, llvm::StringRef cpu,
               llvm::StringRef features);
  Disassembler(const Disassembler &) = delete;

  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::optional<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

/// What all architectures share: sections, L10, L12. The rules of one are in
/// visitArithmetic.
class ObjectLint {
public:
  ObjectLint(std::unique_ptr<Disassembler> disassembler,
             const LintExpectation &expected)
      : expected(expected), owner(std::move(disassembler)), tools(*owner) {}
  virtual ~ObjectLint() = default;

  std::vector<LintFinding> run(llvm::ArrayRef<uint8_t> object,
                               OpCounts *counts);

protected:
  /// `text` is the instruction as printed, beginning with `mnemonic`.
  virtual void visitArithmetic(llvm::StringRef mnemonic,
                               const std::string &text) = 0;
  void report(LintRule rule, std::string text, std::string message);

  const LintExpectation &expected;
  OpCounts counts{};

private:
  void visitSection(const llvm::object::SectionRef &section);
  void visit(const llvm::MCInst &instruction, uint64_t size);
  void visitControl(const llvm::MCInst &instruction, uint64_t size,
                    const std::string &text);

  std::unique_ptr<Disassembler> owner;
  Disassembler &tools;
  std::vector<LintFinding> findings;
  std::string base;
  uint64_t begin = 0, end = 0, offset = 0;
};

} // namespace bitpact::codegen

#endif
