// Check.cpp - bitpact check: packages and contract files against the oracle
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Check.h"

#include "tools/bitpact/CacheOption.h"
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Compiler.h"
#include "tools/bitpact/DimOptions.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/UserError.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <optional>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::vector<std::string> inputs, dims, recipes, targets;
  bool expand = false, asked = false;
  CheckOptions check;
  CacheOption cache;
};

bool isPackage(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

int expand(const Options &options, const Shared &shared) {
  json response =
      Compiler().run({{"command", "expand"}, {"contracts", options.inputs}},
                     [](const std::string &, int64_t, int64_t) {});
  if (shared.json) {
    std::cout << response.dump(2) << '\n';
    return Holds;
  }
  for (const json &one : response.at("contracts")) {
    const json &canonical = one.at("canonical");
    std::cout << "// " << one.value("path", "") << "  digest "
              << one.value("digest", "") << '\n'
              << (canonical.is_string()
                      ? json::parse(canonical.get<std::string>())
                      : canonical)
                     .dump(2)
              << '\n';
  }
  return Holds;
}

/// What to compile for so that the devices asked for have something to run.
std::vector<std::string> targetsFor(const Options &options) {
  if (!options.targets.empty())
    return options.targets;
  std::vector<std::string> targets;
  for (const std::string &name :
       options.check.devices.empty() ? devicesHere() : options.check.devices) {
    Device device(name);
    if (device.kind == BITPACT_TARGET_CPU) {
      size_t before = targets.size();
      for (const char *arch : {"x86-64-v3", "x86-64-v4", "aarch64"})
        if (std::count(device.archs.begin(), device.archs.end(), arch))
          targets.push_back(fmt::format("cpu:{}", arch));
      if (targets.size() == before)
        targets.emplace_back("cpu"); // none runs here, and check says so
    } else if (!device.archs.empty())
      targets.push_back(fmt::format(
          "{}:{}", device.kind == BITPACT_TARGET_CUDA ? "cuda" : "hip",
          device.archs.front()));
  }
  return targets;
}

std::string dimsText(const std::map<std::string, int64_t> &dims) {
  std::vector<std::string> parts;
  for (const auto &[dim, extent] : dims)
    parts.push_back(fmt::format("{}={}", dim, extent));
  return fmt::format("{}", fmt::join(parts, " "));
}

void printDifference(const VariantReport &report) {
  const Difference &d = *report.first;
  fmt::print("\n{} ({}), variant {} on {}\n", report.contract->name,
             shortDigest(report.contract->digest), report.variant->id,
             report.device);
  fmt::print("  data      {}, seed {}, {}, {}\n", d.recipe, d.seed,
             dimsText(d.dims), d.layout);
  fmt::print("  against   {}\n", d.against);
  if (d.stray)
    fmt::print("  wrote     outside {}, at byte {} from its start\n", d.tensor,
               *d.stray);
  else if (d.tensor == "fault word")
    fmt::print("  fault     expected {}, got {}\n", d.expected, d.actual);
  else if (!d.coordinate.empty() || !d.expected.empty())
    fmt::print("  first at  {}[{}]: expected {}, got {}; {} of {} elements "
               "differ\n",
               d.tensor, fmt::join(d.coordinate, ", "), d.expected, d.actual,
               d.differing, d.elements);
  if (!d.sameBytes.empty())
    fmt::print("  the same bytes as {}\n", fmt::join(d.sameBytes, ", "));
}

void printReport(const CheckReport &report) {
  Table table({"contract", "digest", "variant", "device", "launches",
               "elements", "differing"});
  for (const VariantReport &one : report.variants)
    table.add(
        {one.contract->name, shortDigest(one.contract->digest), one.variant->id,
         one.device, std::to_string(one.launches), std::to_string(one.elements),
         one.first && !one.differing ? "!" : std::to_string(one.differing)});
  table.print();
  fmt::print("\nseed {}; data {}; rows {}\n", report.seed,
             fmt::join(report.recipes, " "), fmt::join(report.rows, " "));
  for (const VariantReport &one : report.variants) {
    std::vector<std::string> parts;
    for (const auto &[layout, count] : one.excluded)
      parts.push_back(fmt::format("{} ({} times)", layout, count));
    if (!parts.empty())
      fmt::print("note: {} on {}: its conditions exclude {}\n", one.variant->id,
                 one.device, fmt::join(parts, ", "));
  }
  if (!report.sampled.empty())
    fmt::print("evaluated in full: {} of {} cases; of the others, which have "
               "more than 2^26 steps,\n",
               report.cases - report.sampledCases, report.cases);
  for (const SampledCase &one : report.sampled)
    fmt::print("  {} {}: {} of {} outputs; all are compared with {}\n",
               one.contract->name, dimsText(one.dims), one.places, one.outputs,
               one.launch);
  for (const VariantReport &one : report.variants)
    if (one.leftOut)
      fmt::print("note: {} on {}: {} cases of more than 2^24 steps left out; "
                 "--rows or --dim asks for them\n",
                 one.variant->id, one.device, one.leftOut);
  std::map<std::string, int> reasons;
  for (const Unchecked &one : report.unchecked)
    ++reasons[one.why];
  for (const auto &[why, count] : reasons)
    fmt::print("note: {} variants not checked: {}\n", count, why);
  for (const ContractSpec *one : report.withoutEvidence)
    fmt::print("incomplete: no variant of {} ({}) ran\n", one->name,
               shortDigest(one->digest));
  int64_t wrong = 0;
  for (const VariantReport &one : report.variants)
    if (one.first) {
      ++wrong;
      printDifference(one);
    }
  if (wrong)
    fmt::print("\n{} of {} variants differ\n", wrong, report.variants.size());
  else
    fmt::print("0 differing bytes: {} variants equal the reference evaluator "
               "and each other\n",
               report.variants.size());
}

int runCheck(Options options, const Shared &shared) {
  if (options.expand)
    return expand(options, shared);
  options.check.extents = parseExtents(options.dims);
  options.check.bounded = !options.asked && options.dims.empty();
  if (!options.recipes.empty()) {
    options.check.recipes.clear();
    for (const std::string &name : options.recipes)
      options.check.recipes.push_back(parseRecipe(name));
  }
  std::optional<TemporaryDirectory> temporary;
  ProgressLine progress;
  std::string path = options.inputs.front();
  if (!isPackage(path)) {
    if (!std::filesystem::exists(path))
      throw UserError(path, "no such contract file or package");
    temporary.emplace();
    path = temporary->path() + "/check.pkg";
    Compiler().run({{"command", "compile"},
                    {"contracts", options.inputs},
                    {"output", path},
                    {"targets", targetsFor(options)},
                    {"roles", {"train", "rollout"}},
                    {"cache", options.cache.directory()},
                    {"stop_after", ""}},
                   progress.callback());
  } else if (options.inputs.size() > 1) {
    throw UserError("check takes one package, or contract files");
  }
  Package package(path);
  CheckReport report = check(package, options.check, progress.callback());
  progress.erase();
  int status = !report.equal()      ? Differs
               : !report.complete() ? Incomplete
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

Command addCheck(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  options->check.rows = CheckOptions::defaultRows();
  CLI::App *command = addCommand(
      app, shared, "check",
      "Every variant, byte by byte, against the reference evaluator",
      "bitpact check norm.pkg --device cpu --rows 1,2,1025 --trials 3\n"
      "  bitpact check my_norm.json --expand");
  command
      ->add_option("CONTRACT|PACKAGE", options->inputs,
                   "A package, or contract files, which are compiled first")
      ->required();
  command->add_flag("--expand", options->expand,
                    "Print the contracts in full instead, with their digests");
  addRepeated(command, "--device", options->check.devices,
              "cpu, cuda:0, …; may be repeated; else those here");
  addRepeated(command, "--target", options->targets,
              "For contract files: what to compile for");
  command->add_option("--op,--contract", options->check.contract,
                      "Only these: an operator, a name or a digest prefix");
  CLI::Option *rows =
      addRepeated(command, "--rows", options->check.rows, "Row counts", true)
          ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
          ->capture_default_str();
  addRepeated(command, "--dim", options->dims,
              "Extents of an open dim: hidden=576,4096");
  addRepeated(command, "--data", options->recipes,
              "Kinds of data, all unless given: normal dense wide subnormal "
              "special zeros constant cancellation",
              true);
  command->add_option("--trials", options->check.trials, "Seeds a kind of data")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--repeat", options->check.repeat, "Launches a case")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->check.seed, "The first seed")
      ->capture_default_str();
  command
      ->add_option("--samples", options->check.samples,
                   "Outputs that are evaluated of a product of matrices with "
                   "more than 2^26 steps; 0: all")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 30))
      ->capture_default_str();
  options->cache.addTo(*command);
  return {command, [options, rows, &shared] {
            options->asked = rows->count() > 0;
            return runCheck(*options, shared);
          }};
}

} // namespace bitpact::tool
