// Inspect.cpp - bitpact inspect: contents and evidence of a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/Selection.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Runtime.h"
#include "tools/evidence/Shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <set>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string package, contract;
  bool text = false;
  SelectOptions select;
};

json describe(const Package &package, const ContractSpec &contract) {
  json tensors = json::array(), variants = json::array();
  for (const TensorSpec &tensor : contract.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"kind", kindOf(tensor)},
                       {"type", tensor.type},
                       {"dims", tensor.dims}});
  for (const VariantSpec *one : package.variantsOf(contract))
    variants.push_back({{"id", one->id},
                        {"target", one->target},
                        {"roles", one->roles},
                        {"priority", one->priority},
                        {"entry", one->entry},
                        {"schedule", one->schedule},
                        {"conditions", one->conditions},
                        {"launch",
                         {{"threads", one->threads},
                          {"programs_per_cta", one->programsPerCta},
                          {"rows_per_program", one->rowsPerProgram},
                          {"shared_bytes", one->sharedBytes}}},
                        {"workspace", one->workspace},
                        {"resources",
                         {{"registers", one->registers},
                          {"shared", one->shared},
                          {"local", one->local},
                          {"spills", one->spills}}},
                        {"evidence", one->evidence},
                        {"code",
                         {{"file", one->codeFile},
                          {"sha256", one->codeSha256},
                          {"bytes", one->codeBytes}}},
                        {"inspect", one->inspectFiles}});
  return {{"digest", contract.digest},
          {"name", contract.name},
          {"op", contract.op},
          {"dims", contract.dims},
          {"tensors", tensors},
          {"variants", variants},
          {"text", json::parse(contract.text, nullptr, false)}};
}

std::string conditionsText(const json &conditions) {
  std::vector<std::string> parts;
  // Objects of their own: items() refers to the one it is called on.
  const json dims = conditions.value("dims", json::object()),
             align = conditions.value("align", json::object()),
             strides = conditions.value("stride_multiple", json::object());
  for (const auto &[dim, range] : dims.items()) {
    int64_t most = range.value("max", INT64_MAX);
    parts.push_back(
        most == INT64_MAX
            ? fmt::format("{} ≥ {}", dim, range.value("min", 1ll))
            : fmt::format("{} in {}..{}", dim, range.value("min", 1ll), most));
  }
  for (const auto &[tensor, bytes] : align.items())
    parts.push_back(
        fmt::format("{} aligned to {} bytes", tensor, bytes.dump()));
  for (const auto &[tensor, multiple] : strides.items())
    parts.push_back(
        fmt::format("strides of {} multiples of {}", tensor, multiple.dump()));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, "; "));
}

/// What the choice among variants that fit goes by, a row each.
void printCosts(const std::vector<const VariantSpec *> &variants) {
  Table table({"variant", "tile", "CTAs at once", "start µs", "round µs",
               "and a round", "which is"});
  std::set<std::string> origins;
  for (const VariantSpec *one : variants) {
    if (!one->conditions.contains("cost"))
      continue;
    origins.insert(costsOrigin(*one));
    const json &cost = one->conditions.at("cost");
    std::vector<std::string> tile;
    const json tiles = cost.value("tiles", json::object());
    for (const auto &[dim, length] : tiles.items())
      tile.push_back(dim + " " + length.dump());
    int64_t perUnit = cost.value("ctas_per_unit", int64_t(0)),
            perProgram = cost.value("ctas_per_program", int64_t(1));
    table.add({one->id, fmt::format("{}", fmt::join(tile, ", ")),
               perUnit ? fmt::format("{} a multiprocessor{}", perUnit,
                                     perProgram > 1
                                         ? fmt::format(", {} a tile", perProgram)
                                         : "")
                       : "all",
               microseconds(cost.value("start", int64_t(0))),
               microseconds(cost.value("tile", int64_t(0))),
               fmt::format("{} ps for each of '{}'",
                           cost.value("element", int64_t(0)),
                           cost.value("dim", "")),
               cost.value("evidence", "not said")});
  }
  if (origins.empty())
    return;
  fmt::print("  costs, {}: of those that fit and have one priority the least is "
             "taken\n",
             fmt::join(origins, "; "));
  table.print();
}

void printContract(const Package &package, const ContractSpec &contract,
                   bool text) {
  fmt::print("\n{} ({})\n  digest    {}\n", contract.name, contract.op,
             contract.digest);
  std::vector<std::string> dims, tensors;
  for (const std::string &dim : contract.dimOrder) {
    int64_t extent = contract.dims.at(dim);
    dims.push_back(dim + " = " + (extent < 0 ? "*" : std::to_string(extent)));
  }
  for (const TensorSpec &tensor : contract.tensors)
    tensors.push_back(fmt::format("{} {}[{}] {}", kindOf(tensor), tensor.name,
                                  fmt::join(tensor.dims, ", "), tensor.type));
  fmt::print("  dims      {}\n  tensors   {}\n", fmt::join(dims, ", "),
             fmt::join(tensors, "; "));
  if (text)
    fmt::print("{}\n", json::parse(contract.text).dump(2));
  for (const VariantSpec *one : package.variantsOf(contract)) {
    fmt::print("  variant {}\n", one->id);
    fmt::print("    target    {}, for {}; priority {}\n", one->target,
               fmt::join(one->roles, ", "), one->priority);
    fmt::print("    schedule  {}\n", one->schedule);
    fmt::print("    takes     {}\n", conditionsText(one->conditions));
    fmt::print("    launch    {} threads, {} programs a CTA, {} rows a "
               "program; workspace {} bytes\n",
               one->threads, one->programsPerCta, one->rowsPerProgram,
               one->workspace);
    fmt::print("    resources {} registers, {} shared, {} local, {} spills\n",
               one->registers, sizeText(one->shared + one->sharedBytes),
               sizeText(one->local), one->spills);
    fmt::print("    evidence  {}\n", one->evidence);
    fmt::print("    code      {}  {}  sha256 {}\n", one->codeFile,
               sizeText(one->codeBytes), one->codeSha256);
    if (!one->inspectFiles.empty())
      fmt::print("    to read   {}\n", fmt::join(one->inspectFiles, ", "));
  }
  printCosts(package.variantsOf(contract));
}

int select(const Package &package,
           const std::vector<const ContractSpec *> &contracts,
           const SelectOptions &options, const Shared &shared) {
  std::vector<Selection> all;
  for (const ContractSpec *contract : contracts)
    for (Selection &one : selectVariants(package, *contract, options))
      all.push_back(std::move(one));
  if (!shared.json) {
    printSelections(all);
    return Holds;
  }
  json list = json::array();
  for (const Selection &one : all)
    list.push_back(toJson(one));
  std::cout << json{{"package", package.path()}, {"selections", list}}.dump(2)
            << '\n';
  return Holds;
}

int inspect(const Options &options, const Shared &shared) {
  Package package(options.package);
  std::vector<const ContractSpec *> contracts =
      chooseContracts(package, options.contract);
  if (options.select.given())
    return select(package, contracts, options.select, shared);
  if (!options.select.role.empty() || !options.select.target.empty() ||
      options.select.units)
    throw UserError("--role, --target and --units say for what --select asks");
  if (shared.json) {
    json list = json::array();
    for (const ContractSpec *contract : contracts)
      list.push_back(describe(package, *contract));
    std::cout << json{{"package", package.path()},
                      {"sha256", package.sha256()},
                      {"producer", package.producer()},
                      {"contracts", list}}
                     .dump(2)
              << '\n';
    return Holds;
  }
  std::vector<std::string> tools;
  for (const auto &[tool, version] : package.producer().items())
    tools.push_back(
        tool + " " +
        (version.is_string() ? version.get<std::string>() : version.dump()));
  fmt::print("{}: {} contracts, {} variants; every file verified\n",
             package.path(), package.contracts().size(),
             package.variants().size());
  fmt::print("manifest sha256 {}\nmade by {}\n", package.sha256(),
             fmt::join(tools, ", "));
  for (const ContractSpec *contract : contracts)
    printContract(package, *contract, options.text);
  return Holds;
}

} // namespace

Command addInspect(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addCommand(app, shared, "inspect", "Contents and evidence of a package",
                 "bitpact inspect norm.pkg --op rms_norm");
  command->add_option("PACKAGE", options->package, "A package")->required();
  command->add_option("--op,--contract", options->contract,
                      "Only these: an operator, a name or a digest prefix");
  command->add_flag("--text", options->text, "The contracts' texts as well");
  addRepeated(command, "--select", options->select.extents,
              "Which variant a launch of these extents takes, and why: "
              "tokens=1,64");
  command->add_option("--role", options->select.role,
                      "With --select: for this role alone");
  command->add_option("--target", options->select.target,
                      "With --select: on this target alone, cuda:sm_90a");
  command->add_option("--units", options->select.units,
                      "With --select: multiprocessors of the device; without it "
                      "those of the one that costs were measured on");
  return {command, [options, &shared] { return inspect(*options, shared); }};
}

} // namespace bitpact::tool
