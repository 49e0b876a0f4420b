// RevealSweep.cpp - bitpact reveal --sweep: intervals of equal tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/RevealSweep.h"
#include "contracts/algebra/RuleError.h"
#include "contracts/diff/Delta.h"
#include "tools/bitpact/Terminal.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/reveal/PackageBox.h"
#include "tools/evidence/reveal/Questions.h"
#include "tools/evidence/reveal/Replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>

using namespace bitpact::evidence;
using nlohmann::json;

namespace bitpact::tool {
namespace {

using reveal::SweepInterval;
using reveal::SweepReport;
/// A text of a tree as a whole contract, to be compared.
using ContractOf = std::function<json(const algebra::Reduction &)>;

std::string extentsText(const SweepInterval &interval) {
  return interval.first == interval.last
             ? fmt::to_string(interval.first)
             : fmt::format("{} … {}", interval.first, interval.last);
}

std::string treeText(const SweepInterval &interval) {
  if (interval.reduction)
    return fmt::format("{}  {}", interval.reduction->partition.text(),
                       interval.reduction->order.text());
  return interval.reason;
}

/// What changes from one interval to the next.
json boundary(const SweepInterval &before, const SweepInterval &after,
              const SweepReport &report, const ContractOf &contractOf) {
  json one{{"before", before.last}, {"after", after.first}};
  if (before.variant != after.variant)
    one["variants"] = {before.variant, after.variant};
  one["equal"] = before.number && before.number == after.number;
  if (one["equal"].get<bool>())
    return one;
  if (before.reduction && after.reduction) {
    try {
      one["delta"] = diff::toJson(diff::compare(contractOf(*before.reduction),
                                                contractOf(*after.reduction)));
      return one;
    } catch (const algebra::RuleError &) {
      // A tree of no contract: the difference is told by its leaves.
    }
  }
  if (!report.reduces && !before.lastTree.empty() && !after.firstTree.empty())
    one["difference"] =
        "the trees part: " +
        before.lastTree.difference(after.firstTree).value_or("nowhere");
  else
    one["difference"] = "a tree without a text has nothing to compare by name";
  return one;
}

int statusOf(const SweepReport &report) {
  bool unknown = false, several = false;
  for (const SweepInterval &one : report.intervals) {
    unknown |= !one.number;
    several |= one.number > 1 || (one.number && report.reduces &&
                                  !one.reduction && one.asked > 1);
  }
  return several ? Differs : unknown ? Incomplete : Holds;
}

json toJson(const SweepReport &report, const json &boundaries) {
  json intervals = json::array();
  for (const SweepInterval &one : report.intervals) {
    json entry{{"first", one.first}, {"last", one.last},
               {"asked", one.asked}, {"variant", one.variant},
               {"tree", one.number}, {"reason", one.reason}};
    if (one.reduction) {
      entry["partition"] = one.reduction->partition.text();
      entry["merge"] = one.reduction->order.texts();
    }
    intervals.push_back(std::move(entry));
  }
  return {{"status", statusOf(report)},
          {"dim", report.range.dim},
          {"reduced", report.reduces},
          {"rows", report.rows},
          {"intervals", intervals},
          {"boundaries", boundaries},
          {"asked", report.range.extents.size()}};
}

void print(const SweepReport &report, const json &boundaries) {
  bool variants = std::any_of(
      report.intervals.begin(), report.intervals.end(),
      [](const SweepInterval &one) { return !one.variant.empty(); });
  std::vector<std::string> head{report.range.dim, "asked", "tree"};
  if (variants)
    head.insert(head.begin() + 2, "variant");
  head.push_back(report.reduces ? "at every extent" : "at this extent");
  Table table(head);
  for (const SweepInterval &one : report.intervals) {
    std::vector<std::string> row{
        extentsText(one), fmt::to_string(one.asked),
        one.number ? fmt::format("#{}", one.number) : "unknown", treeText(one)};
    if (variants)
      row.insert(row.begin() + 2, one.variant);
    table.add(row);
  }
  table.print();
  for (const json &one : boundaries) {
    std::string path;
    if (one.contains("variants"))
      path = fmt::format("  {} → {}", one["variants"][0].get<std::string>(),
                         one["variants"][1].get<std::string>());
    fmt::print("\n{} {} → {}{}\n", report.range.dim,
               one["before"].get<int64_t>(), one["after"].get<int64_t>(), path);
    if (one["equal"].get<bool>())
      fmt::print("  the same tree\n");
    if (one.contains("difference"))
      fmt::print("  {}\n", one["difference"].get<std::string>());
    if (one.contains("delta"))
      for (const json &change : one["delta"]["changes"])
        fmt::print("  ΔC {} {}: {} → {}\n", change["field"].get<std::string>(),
                   change["path"].get<std::string>(),
                   change["before"].get<std::string>(),
                   change["after"].get<std::string>());
  }
  int64_t trees = 0;
  for (const SweepInterval &one : report.intervals)
    trees = std::max(trees, one.number);
  fmt::print("\n{} of {} asked, {} {}\n",
             report.range.extents.size() == 1
                 ? "1 extent"
                 : fmt::format("{} extents", report.range.extents.size()),
             report.range.dim, trees, trees == 1 ? "tree" : "trees");
}

int tell(SweepReport report, const ContractOf &contractOf,
         const Shared &shared) {
  // Trees over other dims have no text yet; one for each number is enough.
  for (SweepInterval &one : report.intervals)
    if (!report.reduces && !one.firstTree.empty()) {
      reveal::RecogniseOptions how;
      how.kind = report.signature.kind;
      how.fraction = one.fraction;
      reveal::Recognised found = reveal::recognise(one.firstTree, how);
      one.reduction = found.reduction;
      one.reason = found.reason;
    }
  json boundaries = json::array();
  for (size_t i = 1; i < report.intervals.size(); ++i)
    boundaries.push_back(boundary(report.intervals[i - 1], report.intervals[i],
                                  report, contractOf));
  if (shared.json)
    std::cout << toJson(report, boundaries).dump(2) << '\n';
  else
    print(report, boundaries);
  return statusOf(report);
}

/// What the runtime would launch with these extents.
const VariantSpec *chosen(const PackageSweep &what, const Kernel &kernel,
                          const Dims &dims) {
  std::vector<Buffer> buffers;
  std::vector<View> views;
  for (const TensorSpec &tensor : what.contract.tensors) {
    std::vector<int64_t> shape = shapeOf(tensor, dims), strides(shape);
    int64_t next = 1;
    for (size_t axis = shape.size(); axis-- > 0; next *= shape[axis])
      strides[axis] = next;
    buffers.emplace_back(what.device,
                         elementsOf(shape) * algebra::bytes(tensor.format));
    views.emplace_back(tensor, what.device, buffers.back().data(), shape,
                       strides);
  }
  int64_t index = kernel.select(views);
  for (const VariantSpec &variant : what.package.variants())
    if (index == variant.index)
      return &variant;
  throw UserError(what.package.path(),
                  fmt::format("no variant of {} fits {}", what.contract.name,
                              what.device.name));
}

} // namespace

void addSweepOptions(CLI::App *command, SweepOptions &options) {
  command->add_option("--sweep", options.range,
                      "Every extent of a dim, DIM=1..1025, and where the tree "
                      "changes");
  command
      ->add_option("--stride", options.stride,
                   "Only every so-many-th extent of --sweep, and the last")
      ->capture_default_str();
}

int sweepForeign(const ForeignOptions &what,
                 const std::map<std::string, int64_t> &dims,
                 const SweepOptions &options, const Shared &shared) {
  reveal::SweepRange range = reveal::parseSweep(options.range, options.stride);
  ForeignSource source(what);
  auto open = [&](int64_t extent) {
    auto all = dims;
    all[range.dim] = extent;
    return reveal::SweptBox{source.open(all), ""};
  };
  SweepReport report;
  {
    ProgressLine line;
    report =
        reveal::sweep(range, source.reduces(range.dim), open, line.callback());
    line.erase();
  }
  if (!shared.json)
    fmt::print("{}\n\n", report.signature.subject);
  reveal::Signature signature = report.signature;
  return tell(
      report,
      [&](const algebra::Reduction &reduction) {
        return reveal::contractOf(signature, reduction, {});
      },
      shared);
}

int sweepPackage(const PackageSweep &what, const SweepOptions &options,
                 const Shared &shared) {
  reveal::SweepRange range = reveal::parseSweep(options.range, options.stride);
  json canonical = json::parse(what.contract.text);
  reveal::NodeUse use = reveal::useOf(canonical, what.node);
  auto declared = what.contract.dims.find(range.dim);
  if (declared == what.contract.dims.end() || declared->second >= 0)
    throw UserError("--sweep", fmt::format("'{}' is no open dim of {}",
                                           range.dim, what.contract.name));
  std::unique_ptr<Kernel> any;
  if (!what.variant)
    any = std::make_unique<Kernel>(what.package, what.device,
                                   what.contract.digest, what.role);
  auto open = [&](int64_t extent) {
    Dims dims = what.dims;
    for (const auto &[dim, fixed] : what.contract.dims)
      if (fixed >= 0)
        dims[dim] = fixed;
      else if (!dims.count(dim))
        dims[dim] = dim == use.dim ? 1024 : 8;
    dims[range.dim] = extent;
    const VariantSpec *variant =
        what.variant ? what.variant : chosen(what, *any, dims);
    return reveal::SweptBox{std::make_unique<reveal::PackageBox>(
                                what.package, what.contract, what.node,
                                what.device, *variant, dims),
                            variant->id};
  };
  SweepReport report;
  {
    ProgressLine line;
    report = reveal::sweep(range, use.dim == range.dim, open, line.callback());
    line.erase();
  }
  if (!shared.json)
    fmt::print("{} of {} on {}\n\n", what.node, what.contract.name,
               what.device.name);
  return tell(
      report,
      [&](const algebra::Reduction &reduction) {
        json revealed = canonical;
        json &node = revealed["nodes"][what.node];
        node.erase("offsets");
        node["partition"] = reduction.partition.text();
        node["merge"] = reduction.order.texts();
        return revealed;
      },
      shared);
}

} // namespace bitpact::tool
