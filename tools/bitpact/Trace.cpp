// Trace.cpp - bitpact trace: where two recorded runs part, and by how much
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Trace.h"

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/DigestNames.h"
#include "tools/bitpact/TraceText.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string a, b, perToken;
  std::vector<std::string> sources;
  std::vector<double> clip;
  bool common = false, all = false;
};

/// One line for each token, with every term as it is.
LogprobSplitter::EachToken tokenWriter(std::string &lines) {
  return [&lines](const TokenSplit &token) {
    json differences = json::array();
    bool exact = true;
    for (const ExactDifference &one : token.differences) {
      differences.push_back(one.high);
      exact &= one.low == 0;
    }
    lines += json{{"sequence", token.sequence},
                  {"position", token.position},
                  {"differences", differences},
                  {"exact", exact}}
                 .dump() +
             '\n';
  };
}

int runTrace(const Options &options, const Shared &shared) {
  TraceOptions how;
  how.common = options.common;
  if (!options.clip.empty()) {
    if (options.clip.size() != 2 || !(options.clip[0] > 0) ||
        !(options.clip[0] < 1) || !(options.clip[1] > 0))
      throw UserError("--clip takes LOW,HIGH with 0 < LOW < 1 and 0 < HIGH, as "
                      "0.2,0.28");
    how.clip = {options.clip[0], options.clip[1]};
  }
  std::string tokens;
  if (!options.perToken.empty())
    how.eachToken = tokenWriter(tokens);
  DigestNames names(options.sources);
  TraceReport report = trace(options.a, options.b, how);
  if (!options.perToken.empty()) {
    OutputFiles files;
    files.write(options.perToken, tokens);
    files.commit();
  }
  int status = traceStatus(report);
  if (shared.json) {
    std::cout << traceJson(report, names, !options.clip.empty()).dump(2)
              << '\n';
    return status;
  }
  fmt::print("A  {}\nB  {}\n", options.a, options.b);
  printTrace(report, names, options.clip, options.all);
  return status;
}

} // namespace

Command addTrace(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(
      app, shared, "trace", "The first site at which two recorded runs part",
      "bitpact trace training.jsonl rollout.jsonl --package model.pkg "
      "--clip 0.2,0.28");
  command->add_option("A", options->a, "Records of a run")->required();
  command->add_option("B", options->b, "Records of the other run")->required();
  addRepeated(command, "--package,--contracts", options->sources,
              "A package or a contract file with the contracts of the records");
  addRepeated(command, "--clip", options->clip,
              "LOW,HIGH: count importance ratios below 1 - LOW, above 1 + HIGH",
              /*commas=*/true);
  command->add_option("--per-token", options->perToken,
                      "Write the split of every token to this file");
  command->add_flag("--common", options->common,
                    "Rows and log-probs that only one run has are not missed");
  command->add_flag("--all", options->all, "Sites that are equal as well");
  return {command, [options, &shared] { return runTrace(*options, shared); }};
}

} // namespace bitpact::tool
