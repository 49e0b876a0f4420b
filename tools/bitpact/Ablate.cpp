// Ablate.cpp - bitpact ablate: which single field moves bits, and how far
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Ablation.h"
#include "contracts/diff/AblationSteps.h"
#include "tools/bitpact/AblationInputs.h"
#include "tools/bitpact/AblationReport.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/ContractSource.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string a, b, selector, directory;
  AblationInputs inputs;
};

int ablate(const Options &options, const Shared &shared) {
  SourcedContract a = readContract(options.a, options.selector);
  SourcedContract b = readContract(options.b, options.selector);
  diff::Delta delta = diff::compare(a.canonical, b.canonical);
  AblationReport report{a, b, delta};
  report.seed = options.inputs.seed;
  if (delta.comparable && !delta.changes.empty()) {
    report.data = options.inputs.describe();
    reference::Evaluator::Tensors tensors = options.inputs.tensors(a);
    report.singles = diff::singleSteps(a.canonical, b.canonical, delta);
    report.combined =
        diff::combinedSteps(a.canonical, b.canonical, delta, report.singles);
    if (!options.directory.empty())
      report.files = writeSteps(report, options.directory);
    try {
      diff::Ablation ablation(a.canonical, b.canonical, tensors);
      for (const diff::AblationStep &step : report.singles)
        report.results.push_back(ablation.run(step.canonical));
      for (const diff::AblationStep &step : report.combined)
        report.results.push_back(ablation.run(step.canonical));
      report.whole = ablation.run(b.canonical);
    } catch (const std::invalid_argument &error) {
      throw UserError(error.what());
    }
  }
  int status = !delta.comparable                           ? NotComparable
               : report.whole && report.whole->differing() ? Differs
                                                           : Holds;
  if (shared.json) {
    json result = toJson(report);
    result["status"] = status;
    std::cout << result.dump(2) << '\n';
  } else {
    printReport(report);
  }
  return status;
}

} // namespace

Command addAblate(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(
      app, shared, "ablate",
      "Every single-field step from A to B: which move bits, and how far",
      "bitpact ablate train_norm.json rollout_norm.json "
      "--input x=acts.npy:bf16 --input weight=w.npy:bf16 --write steps");
  command
      ->add_option("A", options->a, "A contract file, canonical JSON, package")
      ->required();
  command->add_option("B", options->b, "Where the steps lead")->required();
  command->add_option("--op,--contract", options->selector,
                      "An operator, a name or a digest prefix, if several");
  options->inputs.addTo(*command);
  command->add_option(
      "--write", options->directory,
      "Write every step as a contract file into this directory");
  return {command, [options, &shared] { return ablate(*options, shared); }};
}

} // namespace bitpact::tool
