// Contract.cpp - any bytes as a contract file: a digest, or a message
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Reader.h"
#include "tests/fuzz/MemoryFile.h"

#include "mlir/IR/Diagnostics.h"

using namespace bitpact;

namespace {

struct Session {
  Session() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &what) {
      said += what.str().size();
      return mlir::success();
    });
    auto read = reader::Library::load(BITPACT_CONTRACTS, &context);
    if (failed(read))
      std::abort();
    library.emplace(std::move(*read));
  }
  mlir::MLIRContext context;
  std::optional<reader::Library> library;
  size_t said = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context keeps every text it has seen, so it is left now and then.
  static std::optional<Session> session;
  static int runs = 0;
  if (runs++ % 4096 == 0)
    session.emplace();
  static fuzz::MemoryFile file;
  file.write(data, size);
  session->said = 0;
  auto result =
      reader::readContract(file.path(), *session->library, &session->context);
  // Refused without a word, or accepted with an error.
  if (succeeded(result) == (session->said > 0))
    std::abort();
  return 0;
}
