// Symbol.h - a symbol of a shared library, called in a child process
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_SYMBOL_H
#define BITPACT_EVIDENCE_FOREIGN_SYMBOL_H

#include "tools/evidence/foreign/Function.h"
#include "tools/evidence/foreign/Process.h"
#include "tools/evidence/foreign/Signature.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace bitpact::evidence::foreign {

/// `lib.so:symbol`.
struct SymbolPath {
  std::string library, symbol;
};
SymbolPath parseSymbolPath(const std::string &text);

/// `tool` is a program whose main serves as a worker (Worker.h).
struct SymbolOptions {
  std::string tool = "/proc/self/exe";
  double timeout = 60; ///< seconds for one batch of calls
};

class Symbol : public Function {
public:
  /// Loads it. Throws UserError where that fails, with what the loader says.
  Symbol(const SymbolPath &path, const Signature &signature,
         const std::map<std::string, int64_t> &dims,
         const SymbolOptions &options = {});

  Formula formula() const override { return computes; }
  const std::vector<TensorType> &inputs() const override { return inputTypes; }
  const TensorType &output() const override { return outputType; }
  const std::string &name() const override { return label; }
  std::vector<Tensor>
  call(const std::vector<std::vector<Tensor>> &runs) override;
  std::vector<std::string> notes() const override;

private:
  SymbolPath path;
  SymbolOptions options;
  Formula computes;
  Call layout;
  std::string label;
  std::vector<TensorType> inputTypes;
  TensorType outputType;
  Descriptor memory;
  int64_t mappedBytes = 0, runBytes = 0, perBatch = 1;
  std::shared_ptr<void> mapped;
  std::unique_ptr<Process> worker;
  std::string environment, changed, overrun;

  void start();
  nlohmann::json ask(const nlohmann::json &request, const char *doing);
  [[noreturn]] void died(const char *doing, int64_t runs);
  void notice(const nlohmann::json &answer);
};

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_SYMBOL_H
