// ObjectLint.cpp - disassembles an object and hands every instruction to rules
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/ObjectLint.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"

using namespace llvm;

namespace bitpact::codegen {

Disassembler::Disassembler(StringRef tripleName, StringRef cpu,
                           StringRef features) {
  Triple triple(tripleName);
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  registers.reset(target->createMCRegInfo(triple));
  assembler.reset(target->createMCAsmInfo(*registers, triple, options));
  instructions.reset(target->createMCInstrInfo());
  analysis.reset(target->createMCInstrAnalysis(instructions.get()));
  subtarget.reset(target->createMCSubtargetInfo(triple, cpu, features));
  context.emplace(triple, assembler.get(), registers.get(), subtarget.get());
  decoder.reset(target->createMCDisassembler(*subtarget, *context));
  printer.reset(target->createMCInstPrinter(triple, 0, *assembler,
                                            *instructions, *registers));
}

void ObjectLint::visitSection(const object::SectionRef &section) {
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
  for (uint64_t size = 1; (offset = end - begin - bytes.size(), !bytes.empty());
       bytes = bytes.drop_front(std::min<size_t>(size, bytes.size()))) {
    MCInst instruction;
    if (tools.decoder->getInstruction(instruction, size, bytes, begin + offset,
                                      nulls()) == MCDisassembler::Success) {
      visit(instruction, size);
      continue;
    }
    report(LintRule::L12, toHex(bytes.take_front(8)), "not an instruction");
    size = std::max<uint64_t>(size, 1);
  }
}

void ObjectLint::report(LintRule rule, std::string text, std::string message) {
  std::string where =
      base.empty() ? "object" : base + "+0x" + utohexstr(offset, true);
  findings.push_back({rule, std::move(text), where, std::move(message)});
}

void ObjectLint::visit(const MCInst &instruction, uint64_t size) {
  std::string text;
  raw_string_ostream stream(text);
  tools.printer->printInst(&instruction, begin + offset, "", *tools.subtarget,
                           stream);
  std::replace(text.begin(), text.end(), '\t', ' ');
  text = StringRef(text).trim().str();
  StringRef mnemonic = StringRef(text).split(' ').first;
  visitArithmetic(mnemonic, text);
  visitControl(instruction, size, text);
}

void ObjectLint::visitControl(const MCInst &instruction, uint64_t size,
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

std::vector<LintFinding> ObjectLint::run(ArrayRef<uint8_t> object,
                                         OpCounts *found) {
  auto file = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(toStringRef(object), "object"));
  if (!file) {
    report(LintRule::L12, "", toString(file.takeError()));
    return std::move(findings);
  }
  for (const object::SectionRef &section : (*file)->sections())
    if (section.isText())
      visitSection(section);
  checkCounts(counts, expected, findings);
  if (found)
    *found = counts;
  return std::move(findings);
}

} // namespace bitpact::codegen
