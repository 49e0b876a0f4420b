// AblationInputs.h - the tensors on which steps between contracts are compared
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_ABLATIONINPUTS_H
#define BITPACT_TOOL_ABLATIONINPUTS_H

#include "contracts/reference/Evaluator.h"
#include "tools/bitpact/ContractSource.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::tool {

/// Options --input, --data, --rows, --dim and --seed of a command.
struct AblationInputs {
  std::vector<std::string> files, dims;
  std::string recipe = "normal";
  int64_t rows = 64;
  uint64_t seed = 1;

  void addTo(CLI::App &command);
  /// "normal, seed 1", or the files.
  std::string describe() const;
  /// From files where all are given, else generated for the contract. Throws
  /// UserError for what is missing or does not fit.
  reference::Evaluator::Tensors tensors(const SourcedContract &contract) const;
};

} // namespace bitpact::tool

#endif // BITPACT_TOOL_ABLATIONINPUTS_H
