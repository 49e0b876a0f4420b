// Diff.cpp - bitpact diff: in which fields of which nodes contracts differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Delta.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/ContractSource.h"
#include "tools/bitpact/Terminal.h"
#include "tools/bitpact/WitnessReport.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <iostream>
#include <optional>

using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string a, b, witnessDirectory;
  bool witness = false;
  diff::WitnessOptions search;
};

std::string heading(const SourcedContract &contract) {
  return fmt::format("{} ({}) {}", contract.name, operatorOf(contract),
                     shortDigest(contract.digest));
}

void printDelta(const SourcedContract &a, const SourcedContract &b,
                const diff::Delta &delta) {
  fmt::print("A  {}  {}\nB  {}  {}\n\n", heading(a), a.path, heading(b),
             b.path);
  if (!delta.changes.empty()) {
    Table table({"node", "field", "A", "B"});
    for (const diff::Change &one : delta.changes)
      table.add({one.node, std::string(diff::name(one.field)), one.before,
                 one.after});
    table.print();
    fmt::print("\n");
  }
  for (const diff::Equivalence &one : delta.equivalences)
    fmt::print("{}: equivalent, {}\n", one.node, one.rule);
  fmt::print("{}{}\n", delta.verdict(),
             delta.comparable ? "" : ": " + delta.reason);
}

int exitCode(const diff::Delta &delta) {
  if (!delta.comparable)
    return NotComparable;
  return delta.changes.empty() ? Holds : Differs;
}

/// Nothing for contracts that are equal or have no function in common.
std::optional<diff::WitnessSearch> witness(const Options &options,
                                           const SourcedContract &a,
                                           const SourcedContract &b,
                                           const diff::Delta &delta) {
  bool wanted = options.witness || !options.witnessDirectory.empty();
  if (!wanted || !delta.comparable || delta.verdict() == "equal")
    return std::nullopt;
  diff::WitnessSearch search =
      diff::findWitness(a.canonical, b.canonical, options.search);
  if (search.found && delta.verdict() == "equivalent")
    throw std::logic_error("two contracts were taken for equivalent, and "
                           "differ on an input; seed " +
                           std::to_string(search.seed));
  if (search.found && !options.witnessDirectory.empty())
    writeWitness(*search.found, options.witnessDirectory);
  return search;
}

int runDiff(const Options &options, const Shared &shared) {
  SourcedContract a = readContract(options.a), b = readContract(options.b);
  diff::Delta delta = diff::compare(a.canonical, b.canonical);
  auto search = witness(options, a, b, delta);
  if (shared.json) {
    json result = diff::toJson(delta);
    result["status"] = exitCode(delta);
    if (search)
      result["witness"] = toJson(*search);
    std::cout << result.dump(2) << '\n';
  } else {
    printDelta(a, b, delta);
    if (search)
      printWitness(*search);
  }
  return exitCode(delta);
}

} // namespace

Command addDiff(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addCommand(app, shared, "diff",
                 "In which fields of which nodes two contracts differ",
                 "bitpact diff train_norm.json rollout_norm.json --witness");
  command
      ->add_option("A", options->a, "A contract file, canonical JSON, package")
      ->required();
  command->add_option("B", options->b, "What it is compared with")->required();
  command->add_flag("--witness", options->witness,
                    "Find an input on which they give different bytes");
  command->add_option("--witness-out", options->witnessDirectory,
                      "The same, and write its tensors there as .npy");
  command
      ->add_option("--trials", options->search.rounds,
                   "How often every kind of input is tried for a witness")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--seed", options->search.seed, "The seed of these inputs")
      ->capture_default_str();
  return {command, [options, &shared] { return runDiff(*options, shared); }};
}

} // namespace bitpact::tool
