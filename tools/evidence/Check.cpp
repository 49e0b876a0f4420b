// Check.cpp - every variant of a package against the oracle, byte by byte
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Checker.h"

#include <algorithm>
#include <fmt/format.h>

namespace bitpact::evidence {
namespace {

/// Other layouts are tried on so few rows, and on more rows while the tensors
/// stay below this.
constexpr size_t smallBytes = 8 << 20;
/// Of few rows that meet a large factor, other layouts are tried below this.
constexpr size_t mostBytes = 256 << 20;
/// Of extents that only some variants take, which are long.
constexpr int64_t fewRows = 8;

} // namespace

CheckReport Checker::run() {
  report.seed = options.seed;
  report.rows = options.rows;
  for (Recipe recipe : options.recipes)
    report.recipes.emplace_back(nameOf(recipe));
  for (const std::string &name :
       options.devices.empty() ? devicesHere() : options.devices) {
    devices.emplace_back(name);
    report.devices.push_back(devices.back().name);
  }
  std::vector<const ContractSpec *> chosen =
      chooseContracts(package, options.contract);
  RowShape::requireOpen(chosen, options.extents);
  total = static_cast<int64_t>(chosen.size() * options.recipes.size()) *
          options.trials;
  for (const ContractSpec *contract : chosen)
    checkContract(*contract);
  return std::move(report);
}

void Checker::findRunners(const ContractSpec &contract) {
  runners.clear();
  for (const VariantSpec *variant : package.variantsOf(contract)) {
    std::string why = fmt::format("no device here runs {}", variant->target);
    bool runs = false;
    for (const Device &device : devices) {
      if (!device.runs(*variant))
        continue;
      try {
        runners.push_back({variant, &device,
                           Kernel(package, device, contract.digest,
                                  variant->roles.front(), variant->id),
                           report.variants.size()});
      } catch (const MissingLibrary &missing) {
        why = missing.what();
        continue;
      }
      runs = true;
      VariantReport &one = report.variants.emplace_back();
      one.contract = &contract;
      one.variant = variant;
      one.device = device.name;
    }
    if (!runs)
      report.unchecked.push_back({&contract, variant, why});
  }
}

/// A variant that asks for long rows gets some, unless the caller says which.
std::map<std::string, std::vector<int64_t>> Checker::extentsFor() const {
  std::map<std::string, std::vector<int64_t>> extents = options.extents;
  for (const Runner &runner : runners) {
    nlohmann::json dims =
        runner.variant->conditions.value("dims", nlohmann::json::object());
    for (const auto &[dim, range] : dims.items()) {
      int64_t least = range.at("min").get<int64_t>();
      if (!shape.isReduced(dim) || options.extents.count(dim) || least == 1)
        continue;
      auto [list, isNew] = extents.try_emplace(dim, RowShape::defaultExtents());
      for (int64_t extent : {least, 2 * least + 77})
        if (std::find(list->second.begin(), list->second.end(), extent) ==
            list->second.end())
          list->second.push_back(extent);
    }
  }
  return extents;
}

std::vector<int64_t> Checker::rowsFor(const Dims &extents) const {
  std::vector<int64_t> counts = shape.rowCounts(options.rows);
  int64_t longest = RowShape::defaultExtents().back();
  for (const auto &[dim, extent] : extents)
    if (shape.isReduced(dim) && !options.extents.count(dim) &&
        extent > 16 * longest)
      std::erase_if(counts, [](int64_t rows) { return rows > fewRows; });
  return counts.empty() ? std::vector<int64_t>{1} : counts;
}

void Checker::checkContract(const ContractSpec &contract) {
  shape = RowShape(contract);
  inputs.emplace(contract);
  usesAtom = contract.text.find("fused(") != std::string::npos;
  findRunners(contract);
  if (!runners.empty()) {
    Evaluator oracle(nlohmann::json::parse(contract.text));
    for (Recipe recipe : options.recipes)
      for (int64_t trial = 0; trial < options.trials; ++trial) {
        progress(fmt::format("{} {}", contract.name, nameOf(recipe)), done++,
                 total);
        for (const Dims &extents : shape.openExtents(extentsFor()))
          checkData(contract, oracle, recipe,
                    options.seed + static_cast<uint64_t>(trial), extents);
      }
  }
  // A variant that took no launch has shown nothing.
  if (std::none_of(runners.begin(), runners.end(), [&](const Runner &runner) {
        return report.variants[runner.report].launches > 0;
      }))
    report.withoutEvidence.push_back(&contract);
}

void Checker::checkData(const ContractSpec &contract, const Evaluator &oracle,
                        Recipe recipe, uint64_t seed, const Dims &extents) {
  std::vector<int64_t> counts = rowsFor(extents);
  int64_t most = *std::max_element(counts.begin(), counts.end());
  for (Runner &runner : runners)
    runner.kernel.prepare(shape.withRows(extents, most));
  // Rows that are no prefix of more rows make other tensors for each count.
  std::vector<std::vector<int64_t>> groups{counts};
  if (!shape.rowsArePrefix()) {
    groups.clear();
    for (int64_t rows : counts)
      groups.push_back({rows});
  }
  for (const std::vector<int64_t> &group : groups) {
    std::vector<Answer> answers =
        answersFor(contract, oracle, recipe, seed, extents, group);
    for (int64_t rows : group) {
      Dims dims = shape.withRows(extents, rows);
      // The first that has so many rows: a full one, if there is one.
      const Answer &answer =
          *std::find_if(answers.begin(), answers.end(),
                        [&](const Answer &one) { return one.rows >= rows; });
      if (!answer.outputs.empty())
        checkRows({contract, answer, dims});
    }
  }
}

void Checker::checkRows(const Case &one) {
  int64_t rows = shape.rowsOf(one.dims);
  size_t bytes = 0;
  for (const TensorSpec &tensor : one.contract.tensors)
    bytes += one.bytes(tensor).size();
  bool everyLayout = bytes <= (rows <= smallRows ? mostBytes : smallBytes);
  for (const Layout &layout : allLayouts()) {
    if (!everyLayout && &layout != &allLayouts().front())
      break;
    ++report.cases;
    report.sampledCases += one.answer.isSampled();
    for (const Device &device : devices)
      checkLayout(one, layout, device);
    noteSameBytes();
  }
  if (shape.rowsAreOutermost() && rows > 1)
    for (const Device &device : devices)
      if (!leavesOut(one, device))
        checkLoneRows(one, device);
}

CheckReport check(const Package &package, const CheckOptions &options,
                  const Progress &progress) {
  return Checker(package, options, progress).run();
}

} // namespace bitpact::evidence
