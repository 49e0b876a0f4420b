// Check.cpp - every variant of a package against the oracle, byte by byte
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Check.h"

#include "tools/evidence/Answer.h"
#include "tools/evidence/Indices.h"
#include "tools/evidence/Layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

using bitpact::reference::Evaluator;

namespace bitpact::evidence {
namespace {

using Bytes = std::span<const uint8_t>;

/// Other layouts and lone rows are tried on small cases, and on the largest
/// row count while its tensors stay below this.
constexpr int64_t smallRows = 64;
constexpr size_t smallBytes = 8 << 20;
/// Of few rows that meet a large factor, other layouts are tried below this.
constexpr size_t mostBytes = 256 << 20;
/// Products of matrices with more steps are evaluated at chosen places.
constexpr int64_t fullSteps = 1 << 26;
/// A cpu executes an atom step by step: what it is not asked for by name has no
/// more steps than these.
constexpr int64_t cpuAtomSteps = 1 << 24;
/// Of extents that only some variants take, which are long.
constexpr int64_t fewRows = 8;

/// One variant on one device.
struct Runner {
  const VariantSpec *variant;
  const Device *device;
  Kernel kernel;
  size_t report;
};

class Checker {
public:
  Checker(const Package &packageToCheck, const CheckOptions &checkOptions,
          const Progress &reportProgress)
      : package(packageToCheck), options(checkOptions),
        progress(reportProgress) {}

  CheckReport run();

private:
  void checkContract(const ContractSpec &contract);
  void findRunners(const ContractSpec &contract);
  std::map<std::string, std::vector<int64_t>> extentsFor() const;
  std::vector<int64_t> rowsFor(const Dims &extents) const;
  void checkData(const ContractSpec &contract, const Evaluator &oracle,
                 Recipe recipe, uint64_t seed, const Dims &extents);
  void checkRows(const Case &one);
  std::vector<Answer> answersFor(const ContractSpec &contract,
                                 const Evaluator &oracle, Recipe recipe,
                                 uint64_t seed, const Dims &extents,
                                 const std::vector<int64_t> &counts);
  Answer answerFor(const ContractSpec &contract, const Evaluator &oracle,
                   Recipe recipe, uint64_t seed, const Dims &dims,
                   const std::vector<int64_t> &sampledCounts,
                   const Answer *full);
  void takeLaunch(const ContractSpec &contract, Answer &answer,
                  const Dims &dims);
  bool leavesOut(const Case &one, const Device &device) const;
  void checkLayout(const Case &one, const Layout &layout, const Device &device);
  void checkLoneRows(const Case &one, const Device &device);
  void launchAndCompare(Runner &runner, const Case &one, const Layout &layout,
                        std::vector<Placed> &placed);
  void launchOnce(Runner &runner, const Case &one, const Layout &layout,
                  std::vector<Placed> &placed, const std::vector<View> &views,
                  int64_t turn);
  [[noreturn]] static void stopped(const Runner &runner, const Case &one,
                                   const Layout &layout,
                                   const DriverError &error);
  std::vector<Placed> place(const Case &one, const Layout &layout,
                            const Device &device) const;
  static std::vector<View> viewsOf(const std::vector<Placed> &placed);
  void record(Runner &runner, const Case &one, const Layout &layout,
              Difference difference, const std::string &against);
  /// The fault word must be set exactly if an index of the launch is bad:
  /// of all rows, or of one of them.
  void checkFault(Runner &runner, const Case &one, const Layout &layout,
                  int64_t row = -1);
  void noteSameBytes();

  const Package &package;
  const CheckOptions &options;
  const Progress &progress;
  CheckReport report;
  std::vector<Device> devices;
  RowShape shape;
  std::optional<Indices> inputs;
  bool usesAtom = false;
  std::vector<Runner> runners;
  /// Of the case under way: which bytes each variant gave, and the reports
  /// that got their first difference, each with its place in `given`.
  std::vector<std::pair<std::string, size_t>> given;
  std::vector<std::pair<size_t, size_t>> fresh;
  size_t current = 0;
  int64_t done = 0, total = 0;
};

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
    bool runs = false;
    for (const Device &device : devices) {
      if (!device.runs(*variant))
        continue;
      runs = true;
      runners.push_back({variant, &device,
                         Kernel(package, device, contract.digest,
                                variant->roles.front(), variant->id),
                         report.variants.size()});
      VariantReport &one = report.variants.emplace_back();
      one.contract = &contract;
      one.variant = variant;
      one.device = device.name;
    }
    if (!runs)
      report.unchecked.push_back(
          {&contract, variant,
           fmt::format("no device here runs {}", variant->target)});
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
  // Rows that are not outermost make other tensors for each count.
  std::vector<std::vector<int64_t>> groups{counts};
  if (!shape.rowsAreOutermost()) {
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
      const Answer &answer = *std::find_if(
          answers.begin(), answers.end(),
          [&](const Answer &one) { return one.rows >= rows; });
      if (!answer.outputs.empty())
        checkRows({contract, answer, dims});
    }
  }
}

/// One answer, by ascending rows two: in full for so many rows as are few
/// enough, and sampled for all.
std::vector<Answer>
Checker::answersFor(const ContractSpec &contract, const Evaluator &oracle,
                    Recipe recipe, uint64_t seed, const Dims &extents,
                    const std::vector<int64_t> &counts) {
  std::vector<int64_t> full, sampled;
  for (int64_t rows : counts) {
    int64_t steps = stepsOf(contract, shape.withRows(extents, rows));
    bool small = oracle.rowDims().size() < 2 || options.samples == 0 ||
                 steps <= fullSteps;
    (small ? full : sampled).push_back(rows);
  }
  std::vector<Answer> answers;
  for (bool isFull : {true, false}) {
    const std::vector<int64_t> &group = isFull ? full : sampled;
    if (group.empty())
      continue;
    int64_t rows = *std::max_element(group.begin(), group.end());
    answers.push_back(answerFor(
        contract, oracle, recipe, seed, shape.withRows(extents, rows),
        isFull ? std::vector<int64_t>() : group,
        answers.empty() ? nullptr : &answers.front()));
    answers.back().rows = rows;
  }
  return answers;
}

Answer Checker::answerFor(const ContractSpec &contract, const Evaluator &oracle,
                          Recipe recipe, uint64_t seed, const Dims &dims,
                          const std::vector<int64_t> &sampledCounts,
                          const Answer *full) {
  Answer result;
  result.recipe = nameOf(recipe);
  result.seed = seed;
  for (const TensorSpec &tensor : contract.tensors)
    if (!tensor.output && shape.isColumns(tensor))
      result.inputs[tensor.name] =
          inputs->generate(besides(recipe), seed, tensor, dims,
                           /*shared=*/recipe != Recipe::Special);
    else if (!tensor.output)
      result.inputs[tensor.name] = inputs->generate(
          recipe, seed, tensor, dims, !shape.hasRows(tensor));
  ++report.oracleRuns;
  if (sampledCounts.empty()) {
    result.outputs = oracle.run(result.inputs);
    return result;
  }
  result.dims = oracle.rowDims();
  std::set<Place> places;
  for (int64_t rows : sampledCounts) {
    Dims some = shape.withRows(dims, rows);
    std::vector<int64_t> extents;
    for (const std::string &dim : result.dims)
      extents.push_back(some.at(dim));
    for (Place &place : choosePlaces(extents, options.samples, seed))
      places.insert(std::move(place));
  }
  result.places.assign(places.begin(), places.end());
  result.atPlaces = oracle.runAt(result.inputs, result.places);
  if (full)
    result.firstRows =
        std::make_shared<const Evaluator::Tensors>(full->outputs);
  takeLaunch(contract, result, dims);
  return result;
}

/// All outputs of a launch that agrees with the oracle where that was asked,
/// if there is one: other launches must give the same.
void Checker::takeLaunch(const ContractSpec &contract, Answer &answer,
                         const Dims &dims) {
  const Layout &layout = allLayouts().front();
  Case one{contract, answer, dims};
  for (Runner &runner : runners) try {
    if (leavesOut(one, *runner.device))
      continue;
    std::vector<Placed> placed = place(one, layout, *runner.device);
    std::vector<View> views = viewsOf(placed);
    if (runner.kernel.select(views) < 0)
      continue;
    runner.kernel.launch(views);
    ++report.variants[runner.report].launches;
    Evaluator::Tensors outputs;
    bool agrees = true;
    for (size_t i = 0; i < placed.size(); ++i) {
      const TensorSpec &tensor = contract.tensors[i];
      if (!tensor.output)
        continue;
      reference::Tensor &output = outputs[tensor.name];
      output = {tensor.format, one.shape(tensor), placed[i].rows()};
      agrees &= !one.fromOracle(tensor, output.bytes);
    }
    runner.kernel.takeFault();
    if (!agrees && !answer.outputs.empty())
      continue;
    answer.outputs = std::move(outputs);
    answer.launch =
        fmt::format("{} on {}", runner.variant->id, runner.device->name);
    if (agrees)
      break;
  } catch (const DriverError &error) {
    stopped(runner, one, layout, error);
  }
  if (answer.outputs.empty())
    return;
  int64_t all = 0;
  for (const TensorSpec &tensor : contract.tensors)
    if (tensor.output)
      all += elementsOf(one.shape(tensor));
  auto known = [&](const SampledCase &other) {
    return other.contract == &contract && other.dims == dims;
  };
  if (std::none_of(report.sampled.begin(), report.sampled.end(), known))
    report.sampled.push_back({&contract, dims,
                              static_cast<int64_t>(answer.places.size()), all,
                              answer.launch});
}

bool Checker::leavesOut(const Case &one, const Device &device) const {
  return options.bounded && device.kind == BITPACT_TARGET_CPU && usesAtom &&
         stepsOf(one.contract, one.dims) > cpuAtomSteps;
}

void Checker::checkRows(const Case &one) {
  int64_t rows = shape.rowsOf(one.dims);
  size_t bytes = 0;
  for (const TensorSpec &tensor : one.contract.tensors)
    bytes += one.bytes(tensor).size();
  bool everyLayout =
      bytes <= (rows <= smallRows ? mostBytes : smallBytes);
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

void Checker::checkLayout(const Case &one, const Layout &layout,
                          const Device &device) {
  if (leavesOut(one, device)) {
    for (Runner &runner : runners)
      if (runner.device == &device)
        ++report.variants[runner.report].leftOut;
    return;
  }
  std::vector<Placed> placed = place(one, layout, device);
  for (Runner &runner : runners)
    if (runner.device == &device)
      launchAndCompare(runner, one, layout, placed);
}

std::vector<Placed> Checker::place(const Case &one, const Layout &layout,
                                   const Device &device) const {
  std::vector<Placed> placed;
  for (const TensorSpec &tensor : one.contract.tensors) {
    placed.emplace_back(tensor, device, layout, one.shape(tensor));
    if (tensor.output)
      placed.back().put(0xa5, nullptr);
    else
      placed.back().put(Placed::inputPoison, one.bytes(tensor).data());
  }
  return placed;
}

std::vector<View> Checker::viewsOf(const std::vector<Placed> &placed) {
  std::vector<View> views;
  for (const Placed &tensor : placed)
    views.push_back(tensor.view());
  return views;
}

void Checker::launchAndCompare(Runner &runner, const Case &one,
                               const Layout &layout,
                               std::vector<Placed> &placed) {
  VariantReport &variant = report.variants[runner.report];
  std::vector<View> views = viewsOf(placed);
  if (runner.kernel.select(views) < 0) {
    ++variant.excluded[layout.name];
    return;
  }
  current = given.size();
  for (int64_t turn = 0; turn < options.repeat; ++turn)
    launchOnce(runner, one, layout, placed, views, turn);
}

void Checker::launchOnce(Runner &runner, const Case &one, const Layout &layout,
                         std::vector<Placed> &placed,
                         const std::vector<View> &views, int64_t turn) try {
  VariantReport &variant = report.variants[runner.report];
  // Another canary each time: an element that is not written is never the
  // same twice.
  for (size_t i = 0; i < placed.size(); ++i)
    if (one.contract.tensors[i].output)
      placed[i].put(turn % 2 ? 0x5a : 0xa5, nullptr);
  runner.kernel.launch(views);
  ++variant.launches;
  checkFault(runner, one, layout);
  std::string outputs;
  for (size_t i = 0; i < placed.size(); ++i) {
    const TensorSpec &tensor = one.contract.tensors[i];
    std::vector<uint8_t> bytes = placed[i].rows();
    if (tensor.output) {
      outputs.append(bytes.begin(), bytes.end());
      variant.elements += elementsOf(one.shape(tensor));
    }
    if (!tensor.output) {
      if (auto difference =
              compare(tensor, one.shape(tensor), one.bytes(tensor), bytes))
        record(runner, one, layout, *difference, "the input before the launch");
    } else if (auto difference = one.fromOracle(tensor, bytes)) {
      record(runner, one, layout, *difference, "the reference evaluator");
    } else if (one.answer.isSampled()) {
      if (auto other =
              compare(tensor, one.shape(tensor), one.bytes(tensor), bytes))
        record(runner, one, layout, *other, one.answer.launch);
    }
    if (!placed[i].surroundIntact()) {
      Difference stray;
      stray.tensor = tensor.name;
      stray.stray = placed[i].strayByte();
      record(runner, one, layout, stray, "what lay around the tensor");
    }
  }
  size_t hash = std::hash<std::string>()(outputs);
  if (turn == 0) {
    given.emplace_back(runner.variant->id, hash);
  } else if (hash != given[current].second) {
    Difference unequal;
    unequal.tensor = "an output";
    record(
        runner, one, layout, unequal,
        fmt::format("launch 1 of the same case (this is launch {})", turn + 1));
  }
} catch (const DriverError &error) {
  stopped(runner, one, layout, error);
}

void Checker::stopped(const Runner &runner, const Case &one,
                      const Layout &layout, const DriverError &error) {
  std::string dims;
  for (const auto &[dim, extent] : one.dims)
    dims += fmt::format("{}={} ", dim, extent);
  throw LaunchStopped(fmt::format(
      "{} ({}), variant {} on {}: the launch failed with data {}, seed {}, "
      "{}{}: {}; the device does no more work in this process, so nothing "
      "after it was checked",
      one.contract.name, one.contract.digest.substr(0, 12), runner.variant->id,
      runner.device->name, one.answer.recipe, one.answer.seed, dims,
      layout.name, error.what()));
}

void Checker::checkLoneRows(const Case &one, const Device &device) {
  int64_t rows = shape.rowsOf(one.dims);
  std::vector<int64_t> chosen{0, rows / 2, rows - 1};
  if (rows <= smallRows) {
    chosen.resize(rows);
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  const Layout &layout = allLayouts().front();
  Dims lone = shape.withRows(one.dims, 1);
  std::vector<Placed> placed;
  for (const TensorSpec &tensor : one.contract.tensors) {
    placed.emplace_back(tensor, device, layout,
                        shapeOf(tensor, tensor.output ? lone : one.dims));
    if (!tensor.output)
      placed.back().put(Placed::inputPoison, one.bytes(tensor).data());
  }
  for (Runner &runner : runners)
    for (int64_t row : chosen) {
      if (runner.device != &device)
        break;
      VariantReport &variant = report.variants[runner.report];
      std::vector<View> views;
      for (size_t i = 0; i < placed.size(); ++i) {
        const TensorSpec &tensor = one.contract.tensors[i];
        views.push_back(!tensor.output && shape.hasRows(tensor)
                            ? placed[i].slice(row, 1)
                            : placed[i].view());
        if (tensor.output)
          placed[i].put(0xa5, nullptr);
      }
      if (runner.kernel.select(views) < 0) {
        ++variant.excluded["lone row"];
        continue;
      }
      runner.kernel.launch(views);
      ++variant.launches;
      checkFault(runner, one, layout, row);
      for (size_t i = 0; i < placed.size(); ++i) {
        const TensorSpec &tensor = one.contract.tensors[i];
        if (!tensor.output)
          continue;
        std::vector<uint8_t> bytes = placed[i].rows();
        variant.elements += elementsOf(shapeOf(tensor, lone));
        Bytes expected =
            one.bytes(tensor).subspan(row * bytes.size(), bytes.size());
        if (auto difference =
                compare(tensor, shapeOf(tensor, lone), expected, bytes))
          record(runner, one, layout, *difference,
                 fmt::format("{} (row {} of {} launched alone)",
                             one.answer.isSampled() ? one.answer.launch
                                                    : "the reference evaluator",
                             row, rows));
      }
    }
  fresh.clear();
}

void Checker::checkFault(Runner &runner, const Case &one, const Layout &layout,
                         int64_t row) {
  bool bad = false;
  for (const TensorSpec &tensor : one.contract.tensors) {
    Bytes bytes = one.bytes(tensor);
    if (row >= 0 && shape.hasRows(tensor)) {
      size_t each = bytes.size() / shape.rowsOf(one.dims);
      bytes = bytes.subspan(row * each, each);
    }
    bad |= inputs->anyBad(tensor, bytes, one.dims);
  }
  if (runner.kernel.takeFault() == bad)
    return;
  Difference difference;
  difference.tensor = "fault word";
  difference.expected = bad ? "1" : "0";
  difference.actual = bad ? "0" : "1";
  record(runner, one, layout, difference,
         bad ? "the indices, of which one names no element"
             : "the indices, which all name elements");
}

void Checker::record(Runner &runner, const Case &one, const Layout &layout,
                     Difference difference, const std::string &against) {
  VariantReport &variant = report.variants[runner.report];
  ++variant.differences;
  variant.differing += difference.differing;
  if (variant.first)
    return;
  difference.recipe = one.answer.recipe;
  difference.seed = one.answer.seed;
  difference.layout = layout.name;
  difference.dims = one.dims;
  difference.against = against;
  variant.first = difference;
  fresh.emplace_back(runner.report, current);
}

void Checker::noteSameBytes() {
  for (auto [index, own] : fresh)
    for (size_t i = 0; i < given.size(); ++i)
      if (i != own && given[i].second == given[own].second)
        report.variants[index].first->sameBytes.push_back(given[i].first);
  fresh.clear();
  given.clear();
}

} // namespace

CheckReport check(const Package &package, const CheckOptions &options,
                  const Progress &progress) {
  return Checker(package, options, progress).run();
}

} // namespace bitpact::evidence
