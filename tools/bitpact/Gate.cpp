// Gate.cpp - bitpact gate: may two recorded runs be compared, and do they agree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Gate.h"

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/DigestNames.h"
#include "tools/bitpact/GateText.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/RecordFile.h"

#include <fmt/format.h>
#include <iostream>

using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string a, b;
  std::vector<std::string> sources;
  bool all = false;
};

int exitCode(const diff::GateReport &report) {
  if (!report.comparable())
    return NotComparable;
  if (!report.incomplete.empty() || !report.digestsIncomplete.empty())
    return Incomplete;
  return report.digests.empty() ? Holds : Differs;
}

std::string listed(const std::vector<std::string> &sites, bool all) {
  size_t shown = all ? sites.size() : std::min<size_t>(sites.size(), 4);
  std::string text;
  for (size_t i = 0; i < shown; ++i)
    text += (i ? ", " : "") + sites[i];
  if (shown < sites.size())
    text += fmt::format(" and {} more", sites.size() - shown);
  return text;
}

void print(const Options &options, const diff::GateReport &report,
           const DigestNames &names) {
  fmt::print("A  {}\nB  {}\n", options.a, options.b);
  printComparable(report, options.all);
  for (bool code : {false, true}) {
    const char *kind = code ? "code" : "contract";
    size_t differing = 0;
    for (const diff::DigestDifference &one : report.digests)
      differing += one.code == code;
    if (report.comparable() && report.sitesCompared)
      fmt::print("{} digests: {} of {} sites differ\n", kind, differing,
                 report.sitesCompared);
    // Every layer of a model has the same difference: said once.
    std::map<std::pair<std::string, std::string>, std::vector<std::string>>
        groups;
    for (const diff::DigestDifference &one : report.digests)
      if (one.code == code)
        groups[{names.text(one.a), names.text(one.b)}].push_back(
            one.site.text());
    for (const auto &[digests, sites] : groups)
      fmt::print("  {}\n    A  {}\n    B  {}\n", listed(sites, options.all),
                 digests.first, digests.second);
  }
  printIncomplete(report.incomplete, options.all);
  printIncomplete(report.digestsIncomplete, options.all);
}

int runGate(const Options &options, const Shared &shared) {
  diff::RunSummary a = evidence::readRunSummary(options.a),
                   b = evidence::readRunSummary(options.b);
  DigestNames names(options.sources);
  names.add(a);
  names.add(b);
  diff::GateReport report = diff::gate(a, b);
  int status = exitCode(report);
  if (shared.json) {
    json result = gateJson(report);
    result["status"] = status;
    std::cout << result.dump(2) << '\n';
  } else {
    print(options, report, names);
  }
  return status;
}

} // namespace

Command addGate(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(
      app, shared, "gate",
      "May two recorded runs be compared, and did they run the same contracts?",
      "bitpact gate training.jsonl rollout.jsonl --package model.pkg");
  command->add_option("A", options->a, "Records of a run")->required();
  command->add_option("B", options->b, "Records of the other run")->required();
  addRepeated(command, "--package,--contracts", options->sources,
              "A package or a contract file that names the digests");
  command->add_flag("--all", options->all,
                    "Every field that differs, and all that is missing");
  return {command, [options, &shared] { return runGate(*options, shared); }};
}

} // namespace bitpact::tool
