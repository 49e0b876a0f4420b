// AblationReport.h - the steps of an ablation for people, as JSON and as files
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_ABLATIONREPORT_H
#define BITPACT_TOOL_ABLATIONREPORT_H

#include "contracts/diff/Ablation.h"
#include "contracts/diff/AblationSteps.h"
#include "tools/bitpact/ContractSource.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::tool {

struct AblationReport {
  const SourcedContract &a, &b;
  const diff::Delta &delta;
  std::string data{};
  uint64_t seed = 0;
  std::vector<diff::AblationStep> singles{}, combined{};
  /// Of the single steps, then of the combined ones.
  std::vector<diff::AblationResult> results{};
  std::optional<diff::AblationResult> whole{};
  /// Of the single steps, then of the combined ones, if they were written.
  std::vector<std::string> files{};
};

void printReport(const AblationReport &report);
nlohmann::json toJson(const AblationReport &report);

/// `baseline.json`, then a file a step that extends it: `01-rounding.y.json`.
/// Reads them back, where there is a compiler, and throws unless each has the
/// digest of its step. Returns the files of the steps.
std::vector<std::string> writeSteps(const AblationReport &report,
                                    const std::string &directory);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_ABLATIONREPORT_H
