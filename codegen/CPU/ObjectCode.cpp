// ObjectCode.cpp - LLVM dialect to a shared object for a CPU
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/ObjectCode.h"
#include "codegen/Target/Assemble.h"
#include "codegen/Target/IRPipeline.h"
#include "codegen/Target/Link.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;

namespace bitpact::codegen {

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

mlir::FailureOr<CompiledCode> compileCpu(mlir::ModuleOp module, StringRef arch,
                                         const CompileOptions &) {
  initialize();
  mlir::Location location = module.getLoc();
  // AArch64 is Armv8.0-A, which every processor of that architecture runs.
  bool arm = arch == "aarch64";
  auto machine = createMachine(
      location, arm ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu",
      arm ? "generic" : arch, /*features=*/"");
  if (failed(machine))
    return mlir::failure();
  // x86-64-v4 prefers 256 bits unless it is told otherwise.
  FunctionAttributes attributes;
  if (arch == "x86-64-v4")
    attributes = {{"prefer-vector-width", "512"}};
  LLVMContext context;
  auto ir = lowerToIR(module, context, **machine, attributes);
  if (failed(ir))
    return mlir::failure();
  auto text = emitAssembly(location, std::move(*ir), **machine);
  if (failed(text))
    return mlir::failure();
  auto object = assemble(location, *text, **machine);
  if (failed(object))
    return mlir::failure();
  StringRef bytes(object->data(), object->size());
  std::vector<std::string> missing = undefinedSymbols(bytes);
  for (const std::string &name : missing)
    emitCompilerBug(location)
        << arch << ": L10 object: undefined symbol '" << name
        << "'; a kernel has no library to find it in";
  if (!missing.empty())
    return mlir::failure();
  auto shared =
      linkShared(location, bytes, {"--strip-all", "--hash-style=gnu"});
  if (failed(shared))
    return mlir::failure();
  return CompiledCode{std::move(*shared), "so", std::move(*text), "s", {}, ""};
}

} // namespace bitpact::codegen
