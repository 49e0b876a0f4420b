// Diff.cpp - bitpact diff: in which fields of which nodes contracts differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Comparison.h"
#include "tools/bitpact/DiffPage.h"
#include "tools/bitpact/GitRevision.h"
#include "tools/bitpact/WitnessReport.h"
#include "tools/evidence/OutputFiles.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>

using bitpact::evidence::UserError;

namespace bitpact::tool {
namespace {

struct Options {
  std::string a, b, revision, selector, page, witnessDirectory;
  bool witness = false;
  diff::WitnessOptions search;
};

/// Keeps what --op names; a name, an operator or a prefix of a digest.
void select(ContractSet &set, const std::string &selector) {
  if (selector.empty())
    return;
  std::string known;
  std::vector<SourcedContract> chosen;
  for (SourcedContract &one : set.contracts) {
    known += "\n  " + headingOf(one);
    if (isCalled(one, selector))
      chosen.push_back(std::move(one));
  }
  if (chosen.empty())
    throw UserError(set.path,
                    fmt::format("there is no contract '{}'; there are:{}",
                                selector, known));
  set.contracts = std::move(chosen);
  set.model.reset();
}

/// A witness of every pair whose texts differ.
void findWitnesses(const Options &options, Comparison &comparison) {
  if (!options.witness && options.witnessDirectory.empty())
    return;
  for (ComparedPair &pair : comparison.pairs) {
    if (!pair.whole() || !pair.delta.comparable ||
        pair.delta.verdict() == "equal")
      continue;
    pair.witness =
        diff::findWitness(pair.a->canonical, pair.b->canonical, options.search);
    if (pair.witness->found && pair.delta.verdict() == "equivalent")
      throw std::logic_error("two contracts were taken for equivalent, and "
                             "differ on an input; seed " +
                             std::to_string(pair.witness->seed));
    if (!pair.witness->found || options.witnessDirectory.empty())
      continue;
    std::string label = pair.label;
    std::replace(label.begin(), label.end(), '/', '_');
    writeWitness(*pair.witness->found,
                 comparison.single ? options.witnessDirectory
                                   : options.witnessDirectory + "/" + label);
  }
}

int runDiff(const Options &options, const Shared &shared) {
  if (options.revision.empty() == options.b.empty())
    throw UserError(options.revision.empty()
                        ? "diff needs A and B, or A and --git BASE"
                        : "--git BASE compares A with itself at BASE: give "
                          "no B");
  ContractSet a = options.revision.empty()
                      ? readSet(options.a)
                      : readSetAt(options.revision, options.a);
  ContractSet b = readSet(options.b.empty() ? options.a : options.b);
  for (ContractSet *set : {&a, &b})
    select(*set, options.selector);
  Comparison comparison(std::move(a), std::move(b));
  findWitnesses(options, comparison);
  if (!options.page.empty()) {
    evidence::OutputFiles files;
    files.write(options.page, diffPage(comparison));
    files.commit();
  }
  if (shared.json)
    std::cout << comparison.toJson().dump(2) << '\n';
  else
    comparison.print();
  return comparison.exitCode();
}

} // namespace

Command addDiff(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(
      app, shared, "diff", "In which fields of which nodes contracts differ",
      "bitpact diff train_norm.json rollout_norm.json --witness\n"
      "  bitpact diff model.json --git HEAD~1");
  command
      ->add_option("A", options->a,
                   "A contract file, canonical JSON, a package or a model set")
      ->required();
  command->add_option("B", options->b, "What it is compared with");
  command
      ->add_option("--git", options->revision,
                   "Compare A with itself at this revision, which is A then")
      ->type_name("BASE");
  command
      ->add_option("--html", options->page,
                   "Write a page with the trees side by side")
      ->type_name("FILE");
  command->add_option("--op,--contract", options->selector,
                      "Only these: an operator, a name or a digest prefix");
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
