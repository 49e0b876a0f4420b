// RevealForeign.cpp - bitpact reveal of symbols and commands
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/RevealForeign.h"
#include "tools/bitpact/ContractSource.h"
#include "tools/bitpact/RevealReport.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/Fragment.h"
#include "tools/evidence/reveal/NodeUse.h"
#include "tools/evidence/reveal/Replay.h"

#include <fmt/format.h>
#include <fstream>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

constexpr int64_t ReplayedInputs = 1000;

struct Outcome {
  reveal::Report report;
  std::optional<reveal::Replay> replay;
  std::optional<reveal::Comparison> comparison;
  std::vector<std::string> notes;

  int status() const {
    if (!report.determined() || (replay && !replay->holds()))
      return Incomplete;
    return comparison && !comparison->equal ? Differs : Holds;
  }
};

/// The one node of a contract, unless the user chose one.
std::string nodeOf(const json &contract, const std::string &chosen) {
  std::vector<std::string> nodes = reveal::nodesOf(contract);
  if (!chosen.empty())
    return chosen;
  if (nodes.size() != 1)
    throw UserError("--against", fmt::format("the contract has {} nodes whose "
                                             "order matters; --node picks one",
                                             nodes.size()));
  return nodes.front();
}

Outcome find(const ForeignReveal &options) {
  std::optional<SourcedContract> declared;
  std::string node;
  if (!options.against.empty()) {
    declared = readContract(options.against);
    node = nodeOf(declared->canonical, options.node);
  }
  ForeignSource source(options.foreign);
  ProgressLine line;
  std::unique_ptr<reveal::FunctionBox> box = source.open(options.dims);
  reveal::Options how;
  how.progress = line.callback();
  Outcome outcome;
  outcome.report = reveal::reveal(*box, how);
  outcome.replay = reveal::replay(*box, outcome.report, ReplayedInputs);
  if (declared && outcome.report.determined())
    outcome.comparison =
        reveal::compareDeclared(declared->canonical, node, outcome.report, {});
  outcome.notes = box->function().notes();
  line.erase();
  return outcome;
}

void print(const Outcome &outcome) {
  fmt::print("{}\n", outcome.report.signature.subject);
  printReport(outcome.report);
  if (outcome.replay) {
    const reveal::Replay &replay = *outcome.replay;
    fmt::print("\nreplayed: {}\n", replay.text());
    if (replay.holds())
      fmt::print("arithmetic: {}\n",
                 replay.arithmetic.text(outcome.report.signature.kind));
  }
  if (outcome.report.recognised.reduction) {
    const algebra::Reduction &found = *outcome.report.recognised.reduction;
    fmt::print("partition: {}\nmerge: {}\n", found.partition.text(),
               found.order.text());
  }
  if (outcome.comparison)
    fmt::print("\n{}\n", outcome.comparison->equal
                             ? "equals the declared tree"
                             : "differs: " + outcome.comparison->difference);
  for (const std::string &note : outcome.notes)
    fmt::print("note: {}\n", note);
}

json toJson(const Outcome &outcome) {
  json result = reveal::toJson(outcome.report);
  result["status"] = outcome.status();
  result["notes"] = outcome.notes;
  if (outcome.replay) {
    result["replay"] = {{"inputs", outcome.replay->inputs},
                        {"equal", outcome.replay->equal}};
    if (outcome.replay->holds())
      result["replay"]["arithmetic"] =
          outcome.replay->arithmetic.text(outcome.report.signature.kind);
    if (!outcome.replay->contract.is_null())
      result["contract"] = outcome.replay->contract;
  }
  if (outcome.comparison) {
    result["equal"] = outcome.comparison->equal;
    result["difference"] = outcome.comparison->difference;
    result["delta"] = outcome.comparison->delta;
  }
  return result;
}

void writeContract(const std::string &path, const Outcome &outcome) {
  if (!outcome.replay || outcome.replay->contract.is_null())
    throw UserError(path, "is not written: what was revealed is no contract "
                          "that gives the same bytes");
  std::ofstream file(path);
  file << outcome.replay->contract.dump(2) << '\n';
  if (!file.flush())
    throw UserError(path, "cannot be written");
}

} // namespace

int revealForeign(const ForeignReveal &options, const Shared &shared) {
  Outcome outcome = find(options);
  if (!options.svg.empty() && outcome.report.determined())
    writeSvg(options.svg, outcome.report, outcome.report.signature.subject);
  if (shared.json)
    std::cout << toJson(outcome).dump(2) << '\n';
  else
    print(outcome);
  if (!options.output.empty())
    writeContract(options.output, outcome);
  return outcome.status();
}

} // namespace bitpact::tool
