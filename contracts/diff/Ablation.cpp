// Ablation.cpp - what each step from one contract to another does to results
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/Ablation.h"

#include <algorithm>

namespace bitpact::diff {

using nlohmann::json;
using reference::NamedValue;
using reference::OperatorProgram;
using reference::TensorFacts;
using Tensors = reference::Evaluator::Tensors;

namespace {

/// `tensor` in another type and shape: values rounded, elements beyond it zero.
Tensor fitted(const Tensor &tensor, Format format,
              const std::vector<int64_t> &shape) {
  if (tensor.format == format && tensor.shape == shape)
    return tensor;
  Tensor result{format, shape, {}};
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  result.bytes.resize(count * algebra::bytes(format));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = 0, stride = 1;
    bool there = true;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
      int64_t at = rest % shape[axis];
      there = there && at < tensor.shape[axis];
      from += at * stride;
      stride *= tensor.shape[axis];
    }
    if (there)
      storeElement(result, i, elementAt(tensor, from).value);
  }
  return result;
}

} // namespace

int64_t AblationResult::elements() const {
  int64_t count = 0;
  for (const auto &[name, comparison] : outputs)
    count += comparison.elements;
  return count;
}

int64_t AblationResult::differing() const {
  int64_t count = 0;
  for (const auto &[name, comparison] : outputs)
    count += comparison.differing;
  return count;
}

UlpHistogram AblationResult::histogram() const {
  UlpHistogram all;
  for (const auto &[name, comparison] : outputs)
    all.add(comparison.histogram);
  return all;
}

Ablation::Ablation(const json &baselineContract, const json &goalContract,
                   const Tensors &given)
    : program(reference::compileOperator(baselineContract)), inputs(given) {
  // As they are: what does not fit the baseline is an error.
  baseline = reference::Evaluator(baselineContract).runNamed(inputs);
  goal = namedOf(goalContract);
}

Tensors Ablation::namedOf(const json &canonical) const {
  OperatorProgram other = reference::compileOperator(canonical);
  Tensors tensors;
  for (const TensorFacts &facts : other.tensors) {
    if (!facts.isInput)
      continue;
    const Tensor &tensor = inputs.at(facts.name);
    std::vector<int64_t> shape = tensor.shape;
    for (size_t axis = 0; axis < facts.dims.size(); ++axis)
      if (auto extent = other.dims[facts.dims[axis]].extent)
        shape[axis] = *extent;
    tensors.emplace(facts.name, fitted(tensor, facts.format, shape));
  }
  return reference::Evaluator(canonical).runNamed(tensors);
}

AblationResult Ablation::run(const json &canonical) const {
  Tensors named = namedOf(canonical);
  AblationResult result;
  result.reachesGoal = true;
  for (const NamedValue &value : program.named) {
    auto found = named.find(value.name);
    auto mine = baseline.find(value.name);
    if (found == named.end() || mine == baseline.end())
      continue; // exact in one of them: no value of its own
    if (!result.first)
      if (auto element = firstDifference(mine->second, found->second))
        result.first = Parting{value.name, *element};
    if (!value.isOutput)
      continue;
    result.outputs.emplace(value.name,
                           compareTensors(mine->second, found->second));
    result.reachesGoal &= goal.at(value.name) == found->second;
  }
  return result;
}

} // namespace bitpact::diff
