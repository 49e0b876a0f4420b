// CheckAnswers.cpp - what outputs must be: in full, or at places and as a
// launch Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Checker.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace bitpact::evidence {
namespace {

/// Products of matrices with more steps are evaluated at chosen places.
constexpr int64_t fullSteps = 1 << 26;
/// A cpu executes an atom step by step: what it is not asked for by name has no
/// more steps than these.
constexpr int64_t cpuAtomSteps = 1 << 24;

} // namespace

/// One answer, by ascending rows two: in full for so many rows as are few
/// enough, and sampled for all.
std::vector<Answer> Checker::answersFor(const ContractSpec &contract,
                                        const Evaluator &oracle, Recipe recipe,
                                        uint64_t seed, const Dims &extents,
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
    answers.push_back(answerFor(contract, oracle, recipe, seed,
                                shape.withRows(extents, rows),
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
      result.inputs[tensor.name] =
          inputs->generate(recipe, seed, tensor, dims, !shape.hasRows(tensor));
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
  for (Runner &runner : runners)
    try {
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
        output = {tensor.format, one.shape(tensor),
                  written(runner, tensor, placed[i])};
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

} // namespace bitpact::evidence
