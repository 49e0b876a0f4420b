// Reveal.cpp - bitpact reveal: the accumulation tree of a binary
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/Commands.h"
#include "tools/bitpact/DimOptions.h"
#include "tools/bitpact/RevealForeign.h"
#include "tools/bitpact/RevealReport.h"
#include "tools/bitpact/RevealSweep.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/Launch.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/Fragment.h"
#include "tools/evidence/reveal/PackageBox.h"
#include "tools/evidence/reveal/Questions.h"

#include <fmt/format.h>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

struct Options {
  std::string package, op, contract, role, device = "cpu", variant, node, svg;
  std::vector<std::string> dims;
  ForeignReveal foreign;
  SweepOptions sweep;
};

/// One node of one variant.
struct Outcome {
  const VariantSpec *variant = nullptr;
  std::string node;
  reveal::Report report;
  std::optional<reveal::Comparison> comparison;
  /// It does not take these extents, so that nothing was asked.
  bool skipped = false;

  int status() const {
    if (skipped)
      return Holds;
    if (!report.determined())
      return Incomplete;
    return comparison->equal ? Holds : Differs;
  }
  std::string verdict() const {
    if (skipped)
      return "not asked: " + report.reason;
    if (!report.determined())
      return "not determined: " + report.reason;
    return comparison->equal ? "equals the declared tree"
                             : "differs: " + comparison->difference;
  }
};

Dims parseDims(const std::vector<std::string> &options) {
  Dims dims;
  for (const auto &[dim, extents] : parseExtents(options)) {
    if (extents.size() != 1)
      throw UserError(
          fmt::format("--dim '{}': one extent, not {}", dim, extents.size()));
    dims[dim] = extents.front();
  }
  return dims;
}

std::vector<const VariantSpec *> chooseVariants(const Options &options,
                                                const Package &package,
                                                const ContractSpec &contract,
                                                const Device &device) {
  std::vector<const VariantSpec *> chosen;
  std::string names;
  for (const VariantSpec *variant : package.variantsOf(contract)) {
    names += (names.empty() ? "" : ", ") + variant->id;
    bool role = options.role.empty() ||
                std::count(variant->roles.begin(), variant->roles.end(),
                           options.role) > 0;
    if (device.runs(*variant) && role &&
        (options.variant.empty() || options.variant == variant->id))
      chosen.push_back(variant);
  }
  if (chosen.empty())
    throw UserError(
        package.path(),
        fmt::format("{}: no variant fits '{}' {} on {}; there are {}",
                    contract.name, options.variant, options.role,
                    options.device, names));
  return chosen;
}

Outcome revealNode(const Package &package, const ContractSpec &contract,
                   const json &canonical, const std::string &node,
                   const Device &device, const VariantSpec &variant,
                   const Dims &dims, bool treeOnly, ProgressLine &line) {
  Outcome outcome;
  outcome.variant = &variant;
  outcome.node = node;
  reveal::Options asked;
  asked.treeOnly = treeOnly;
  asked.progress = line.callback();
  try {
    reveal::PackageBox box(package, contract, node, device, variant, dims);
    outcome.report = reveal::reveal(box, asked);
    if (outcome.report.determined())
      outcome.comparison = reveal::compareDeclared(
          canonical, node, outcome.report, box.offsets());
  } catch (const reveal::NotTaken &why) {
    outcome.skipped = true;
    outcome.report.signature.subject = variant.id;
    outcome.report.reason = why.what();
  } catch (const reveal::Undetermined &why) {
    outcome.report.signature.subject = variant.id;
    outcome.report.reason = why.what();
  }
  line.erase();
  return outcome;
}

json toJson(const Outcome &outcome, const json &canonical) {
  json one = reveal::toJson(outcome.report);
  one["variant"] = outcome.variant->id;
  one["node"] = outcome.node;
  one["status"] = outcome.status();
  if (outcome.comparison) {
    one["equal"] = outcome.comparison->equal;
    one["difference"] = outcome.comparison->difference;
    one["delta"] = outcome.comparison->delta;
  }
  if (outcome.report.recognised.reduction)
    one["fragment"] =
        reveal::fragmentOf(canonical, outcome.node, outcome.report);
  return one;
}

void print(const std::vector<Outcome> &outcomes, const json &canonical) {
  Table table({"variant", "node", "rows", "tree"});
  for (const Outcome &outcome : outcomes)
    table.add({outcome.variant->id, outcome.node,
               std::to_string(outcome.report.rows), outcome.verdict()});
  table.print();
  std::string shown;
  for (const Outcome &outcome : outcomes) {
    // The first variant of each node, and every one that differs.
    if (outcome.skipped ||
        (outcome.node == shown && outcome.status() != Differs))
      continue;
    shown = outcome.node;
    fmt::print("\n{} of {}\n", outcome.node, outcome.variant->id);
    printReport(outcome.report);
    if (!outcome.report.recognised.reduction)
      continue;
    fmt::print(
        "\nas a contract:\n{}\n",
        reveal::fragmentOf(canonical, outcome.node, outcome.report).dump(2));
    if (outcome.status() == Differs && outcome.comparison->delta.is_object())
      for (const json &change : outcome.comparison->delta.at("changes"))
        fmt::print("ΔC {} {}: declared {}, revealed {}\n",
                   change.at("node").get<std::string>(),
                   change.at("field").get<std::string>(),
                   change.at("before").get<std::string>(),
                   change.at("after").get<std::string>());
  }
}

int runForeign(const Options &options, const Shared &shared) {
  ForeignReveal foreign = options.foreign;
  if (!options.package.empty())
    throw UserError(options.package,
                    "is given beside --library or --command; take one of them");
  foreign.dims = parseDims(options.dims);
  foreign.svg = options.svg;
  foreign.node = options.node;
  return options.sweep.given() ? sweepForeign(foreign.foreign, foreign.dims,
                                              options.sweep, shared)
                               : revealForeign(foreign, shared);
}

int runSweep(const Options &options, const Package &package,
             const ContractSpec &contract, const Device &device,
             const std::vector<const VariantSpec *> &variants,
             const std::vector<std::string> &nodes, const Shared &shared) {
  if (nodes.size() != 1)
    throw UserError("--sweep", fmt::format("{} has {} nodes; --node picks one",
                                           contract.name, nodes.size()));
  std::string role =
      options.role.empty() ? variants.front()->roles.front() : options.role;
  return sweepPackage({package, contract, device,
                       options.variant.empty() ? nullptr : variants.front(),
                       role, nodes.front(), parseDims(options.dims)},
                      options.sweep, shared);
}

int runReveal(const Options &options, const Shared &shared) {
  if (options.foreign.foreign.given())
    return runForeign(options, shared);
  if (options.package.empty() || options.op.empty())
    throw UserError("what is to be revealed: a PACKAGE and --op, --library or "
                    "--command");
  Package package(options.package);
  const ContractSpec &contract =
      chooseContract(package, options.op, options.contract);
  json canonical = json::parse(contract.text);
  Device device(options.device);
  std::vector<const VariantSpec *> variants =
      chooseVariants(options, package, contract, device);
  std::vector<std::string> nodes = reveal::nodesOf(canonical);
  if (nodes.empty())
    throw UserError(package.path(),
                    fmt::format("{}: {} is element-wise: it adds nothing up, "
                                "and there is no tree",
                                contract.name, contract.op));
  if (!options.node.empty())
    nodes = {options.node};
  if (options.sweep.given())
    return runSweep(options, package, contract, device, variants, nodes,
                    shared);
  Dims dims = parseDims(options.dims);
  std::vector<Outcome> outcomes;
  int status = Holds;
  {
    ProgressLine line;
    for (const std::string &node : nodes) {
      // The first one is probed and written as a text, and what differs.
      bool first = true;
      for (const VariantSpec *variant : variants) {
        outcomes.push_back(revealNode(package, contract, canonical, node,
                                      device, *variant, dims, !first, line));
        if (outcomes.back().status() == Differs && !first)
          outcomes.back() = revealNode(package, contract, canonical, node,
                                       device, *variant, dims, false, line);
        first &= outcomes.back().skipped;
        int one = outcomes.back().status();
        status = status == Differs || one == Differs ? Differs
                                                     : std::max(status, one);
      }
      if (first && status == Holds) // nobody was asked
        status = Incomplete;
    }
  }
  if (!options.svg.empty())
    for (const Outcome &outcome : outcomes)
      if (outcome.report.determined()) {
        writeSvg(options.svg, outcome.report,
                 fmt::format("{}, {} of {}", contract.name, outcome.node,
                             outcome.variant->id));
        break;
      }
  if (shared.json) {
    json list = json::array();
    for (const Outcome &outcome : outcomes)
      list.push_back(toJson(outcome, canonical));
    std::cout << json{{"status", status},
                      {"contract", contract.digest},
                      {"name", contract.name},
                      {"device", device.name},
                      {"trees", list}}
                     .dump(2)
              << '\n';
    return status;
  }
  fmt::print("{} ({}) {} on {}\n", contract.name, shortDigest(contract.digest),
             contract.op, device.name);
  print(outcomes, canonical);
  return status;
}

} // namespace

Command addReveal(CLI::App &app, Shared &shared) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      addCommand(app, shared, "reveal",
                 "The accumulation tree of a binary, from its results alone",
                 "bitpact reveal norm.pkg --op rms_norm --svg tree.svg");
  command->add_option("PACKAGE", options->package, "A package");
  command->add_option("--op", options->op, "An operator, as rms_norm");
  command->add_option("--contract", options->contract,
                      "A digest prefix or a name, if several contracts fit");
  command->add_option("--role", options->role, "Only variants for this role")
      ->check(CLI::IsMember({"train", "rollout", "prefill", "decode"}));
  command->add_option("--device", options->device, "cpu, cuda:0, …")
      ->capture_default_str();
  command->add_option("--variant", options->variant,
                      "Only this variant; else every one that fits");
  command->add_option("--node", options->node, "Only this node");
  addRepeated(command, "--dim", options->dims,
              "The extent of an open dim: hidden=4096");
  command->add_option("--svg", options->svg,
                      "Draw the first tree into this file");
  addForeignOptions(command, options->foreign.foreign);
  command->add_option("-o,--output", options->foreign.output,
                      "The contract revealed from a symbol or a command");
  command->add_option("--against", options->foreign.against,
                      "A contract to compare a symbol or a command with");
  addSweepOptions(command, options->sweep);
  return {command, [options, &shared] { return runReveal(*options, shared); }};
}

} // namespace bitpact::tool
