// Definitions.cpp - any text as operators, primitives and atoms
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/Pact/Pact.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <optional>

using namespace bitpact;

namespace {

struct Session {
  Session() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<pact::PactDialect, mlir::arith::ArithDialect>();
    context.getDiagEngine().registerHandler(
        [](mlir::Diagnostic &) { return mlir::success(); });
  }
  mlir::MLIRContext context;
};

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// Whether a definition of ours has an empty name, which is to be refused.
bool namesNothing(mlir::ModuleOp module) {
  return module
      .walk([](mlir::Operation *op) {
        auto name = op->getAttrOfType<mlir::StringAttr>(
            mlir::SymbolTable::getSymbolAttrName());
        bool ours = op->getName().getDialectNamespace() == "pact";
        return ours && name && name.empty() ? mlir::WalkResult::interrupt()
                                            : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::optional<Session> session;
  static int runs = 0;
  if (runs++ % 4096 == 0)
    session.emplace();
  std::string text(reinterpret_cast<const char *>(data), size);
  // Resources hold hexadecimal blobs of any size, which definitions never do.
  if (text.find("{-#") != text.npos)
    return 0;
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &session->context);
  if (!module)
    return 0;
  // What was accepted can be printed and read again, to the same text. MLIR's
  // own modules and attributes alone may hold @"", which it cannot print.
  std::string printed = print(*module);
  if (printed.find("@<<INVALID EMPTY SYMBOL>>") != printed.npos &&
      !namesNothing(*module))
    return 0;
  auto again =
      mlir::parseSourceString<mlir::ModuleOp>(printed, &session->context);
  if (!again || print(*again) != printed)
    std::abort();
  return 0;
}
