// Diff.cpp - bitpact diff: in which fields of which nodes contracts differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Delta.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/ContractSource.h"
#include "tools/bitpact/Terminal.h"

#include <fmt/format.h>
#include <iostream>

using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string a, b;
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

int runDiff(const Options &options, const Shared &shared) {
  SourcedContract a = readContract(options.a), b = readContract(options.b);
  diff::Delta delta = diff::compare(a.canonical, b.canonical);
  if (shared.json) {
    json result = diff::toJson(delta);
    result["status"] = exitCode(delta);
    std::cout << result.dump(2) << '\n';
  } else {
    printDelta(a, b, delta);
  }
  return exitCode(delta);
}

} // namespace

Command addDiff(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addCommand(app, shared, "diff",
                 "In which fields of which nodes two contracts differ",
                 "bitpact diff train_norm.json rollout_norm.json");
  command
      ->add_option("A", options->a, "A contract file, canonical JSON, package")
      ->required();
  command->add_option("B", options->b, "What it is compared with")->required();
  return {command, [options, &shared] { return runDiff(*options, shared); }};
}

} // namespace bitpact::tool
