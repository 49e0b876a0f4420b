// Assemble.cpp - assembly text to a relocatable object
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/Assemble.h"
#include "codegen/Target/Target.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace bitpact::codegen {

/// The first message, with its line.
static void keepFirst(const SMDiagnostic &message, void *into) {
  auto &first = *static_cast<std::string *>(into);
  if (!first.empty() || message.getKind() != SourceMgr::DK_Error)
    return;
  first = "line " + std::to_string(message.getLineNo()) + ": " +
          message.getMessage().str();
}

mlir::FailureOr<SmallVector<char, 0>> assemble(mlir::Location location,
                                               StringRef text,
                                               const TargetMachine &machine) {
  const llvm::Target &target = machine.getTarget();
  const Triple &triple = machine.getTargetTriple();
  const MCTargetOptions &options = machine.Options.MCOptions;
  const MCRegisterInfo &registers = *machine.getMCRegisterInfo();
  const MCAsmInfo &syntax = *machine.getMCAsmInfo();
  const MCInstrInfo &instructions = *machine.getMCInstrInfo();
  std::unique_ptr<MCSubtargetInfo> subtarget(target.createMCSubtargetInfo(
      triple, machine.getTargetCPU(), machine.getTargetFeatureString()));

  std::string failure;
  SourceMgr source;
  source.setDiagHandler(keepFirst, &failure);
  source.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, "assembly"),
                            SMLoc());
  MCContext context(triple, &syntax, &registers, subtarget.get(), &source,
                    &options);
  std::unique_ptr<MCObjectFileInfo> sections(
      target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  std::unique_ptr<MCAsmBackend> backend(
      target.createMCAsmBackend(*subtarget, registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::unique_ptr<MCCodeEmitter>(
          target.createMCCodeEmitter(instructions, context)),
      *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(source, context, *streamer, syntax));
  std::unique_ptr<MCTargetAsmParser> ofTarget(
      target.createMCAsmParser(*subtarget, *parser, instructions, options));
  if (!ofTarget)
    return emitCompilerBug(location)
           << "no assembly parser for " << triple.str();
  parser->setTargetParser(*ofTarget);
  if (parser->Run(/*NoInitialTextSection=*/false) || context.hadError())
    return emitCompilerBug(location)
           << machine.getTargetCPU() << ": the assembly was not read: "
           << (failure.empty() ? "no message" : failure);
  return bytes;
}

} // namespace bitpact::codegen
