// Attest.cpp - bitpact attest: may another library compute a contract's product
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/attest/Attest.h"

#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/UserError.h"

#include <charconv>
#include <fmt/format.h>
#include <iostream>
#include <optional>

using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  evidence::attest::Request request;
  std::vector<std::string> ranges, recipes, settings;
};

std::optional<int64_t> wholeNumber(std::string_view text) {
  int64_t value = 0;
  auto [stopped, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stopped != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// "split_k=1"
void parseSetting(const std::string &option,
                  evidence::attest::Request &request) {
  size_t equals = option.find('=');
  std::optional<int64_t> value;
  if (equals != 0 && equals != std::string::npos)
    value = wholeNumber(std::string_view(option).substr(equals + 1));
  if (!value || *value < 0)
    throw evidence::UserError(fmt::format(
        "--algorithm '{}': must be SETTING=NUMBER, as split_k=1", option));
  request.offer.settings[option.substr(0, equals)] = *value;
}

/// "tokens=64..8192", or one extent.
void parseRange(const std::string &option, evidence::attest::Request &request) {
  auto refuse = [&]() {
    throw evidence::UserError(fmt::format(
        "--range '{}': must be DIM=LEAST..LARGEST or DIM=EXTENT", option));
  };
  size_t equals = option.find('='), dots = option.find("..");
  if (equals == 0 || equals == std::string::npos)
    refuse();
  std::string name = option.substr(0, equals);
  auto number = [&](size_t begin, size_t end) {
    std::optional<int64_t> value = wholeNumber(std::string_view(option).substr(
        begin, end == std::string::npos ? end : end - begin));
    if (!value)
      refuse();
    return *value;
  };
  int64_t least = number(equals + 1, dots);
  int64_t largest =
      dots == std::string::npos ? least : number(dots + 2, std::string::npos);
  if (!request.ranges.emplace(name, package::Range{least, largest}).second)
    throw evidence::UserError(
        fmt::format("--range '{}': '{}' has a range already", option, name));
}

json toJson(const evidence::attest::Algorithm &algorithm) {
  return algorithm.pinned.settings;
}

json toJson(const evidence::attest::Report &report) {
  json refused = json::array();
  for (const auto &[algorithm, why] : report.refused)
    refused.push_back({{"algorithm", toJson(algorithm)}, {"why", why}});
  json result = {{"contract", report.contract}, {"version", report.version},
                 {"device", report.device},     {"shapes", report.shapes},
                 {"refused", refused},          {"launches", report.launches},
                 {"compared", report.compared}, {"revealed", report.revealed}};
  if (!report.variant.empty())
    result["admitted"] = {{"variant", report.variant},
                          {"algorithm", toJson(report.admitted)}};
  return result;
}

void print(const Options &options, const evidence::attest::Report &report) {
  const evidence::attest::Request &request = options.request;
  fmt::print("{} {} on {}\ncontract {}\n{} shapes, {} kinds of data\n",
             request.library, report.version, report.device, report.contract,
             report.shapes.size(), request.recipes.size());
  for (const auto &[algorithm, why] : report.refused)
    fmt::print("refused   {}\n  {}\n", algorithm.text(), why);
  if (report.variant.empty())
    fmt::print("nothing admitted: no algorithm keeps the contract over the "
               "range; no package was written\n");
  else
    fmt::print("admitted  {}\n  {} launches, {} outputs compared, tree found "
               "at {}\n  variant {} of {}\n",
               report.admitted.text(), report.launches, report.compared,
               fmt::join(report.revealed, " and at "), report.variant,
               request.output);
}

int runAttest(Options &options, const Shared &shared) {
  options.request.ranges.clear();
  for (const std::string &range : options.ranges)
    parseRange(range, options.request);
  if (!options.recipes.empty()) {
    options.request.recipes.clear();
    for (const std::string &name : options.recipes)
      options.request.recipes.push_back(evidence::parseRecipe(name));
  }
  options.request.offer.settings.clear();
  for (const std::string &setting : options.settings)
    parseSetting(setting, options.request);
  ProgressLine progress;
  evidence::attest::Report report =
      evidence::attest::attest(options.request, progress.callback());
  progress.erase();
  int status = report.variant.empty() ? Differs : Holds;
  if (shared.json) {
    json result = toJson(report);
    result["status"] = status;
    std::cout << result.dump(2) << '\n';
  } else {
    print(options, report);
  }
  return status;
}

} // namespace

Command addAttest(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  evidence::attest::Request &request = options->request;
  CLI::App *command = addCommand(
      app, shared, "attest",
      "May a library's kernel serve as a variant of a contract?",
      "bitpact attest qwen.pkg --contract qwen3-8b/linear --device cuda:0 "
      "--library cublaslt --range tokens=64..8192 --range out=4096 "
      "--output attested.pkg");
  command->add_option("PACKAGE", request.package, "Has a generated variant")
      ->required();
  command->add_option("--op,--contract", request.contract,
                      "A product of matrices: an operator, a name or a digest "
                      "prefix");
  command->add_option("--device", request.device, "cpu, cuda:0")->required();
  command->add_option("--library", request.library, "Whose kernel it is")
      ->check(CLI::IsMember({"cublaslt", "openblas"}))
      ->required();
  addRepeated(command, "--range", options->ranges,
              "DIM=LEAST..LARGEST, of every open dim");
  addRepeated(command, "--data", options->recipes,
              "Kinds of data, all unless given", true);
  command->add_option("--seed", request.seed, "Of the data")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 62))
      ->capture_default_str();
  command
      ->add_option("--suggestions", request.offer.suggestions,
                   "How many algorithms of the library's heuristic are tried "
                   "for each shape; 1: its choice")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  addRepeated(command, "--algorithm", options->settings,
              "SETTING=NUMBER, in place of what is suggested: split_k=1", true);
  command->add_flag("--prefer", request.preferred,
                    "Try the library before the generated variants");
  command->add_option("-o,--output", request.output, "The package to write")
      ->required();
  return {command, [options, &shared] { return runAttest(*options, shared); }};
}

} // namespace bitpact::tool
