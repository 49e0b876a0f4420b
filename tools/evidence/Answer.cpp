// Answer.cpp - what the outputs of a case must be, and where that is known
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Answer.h"

#include "tools/evidence/Elements.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace bitpact::evidence {

std::span<const uint8_t> Case::bytes(const TensorSpec &tensor) const {
  const auto &from = tensor.output ? answer.outputs : answer.inputs;
  return {from.at(tensor.name).bytes.data(),
          static_cast<size_t>(elementsOf(shape(tensor)) *
                              algebra::bytes(tensor.format))};
}

std::optional<Difference>
Case::fromOracle(const TensorSpec &tensor,
                 std::span<const uint8_t> actual) const {
  std::vector<int64_t> extents = shape(tensor);
  if (!answer.isSampled())
    return compare(tensor, extents, bytes(tensor), actual);
  const reference::Tensor &expected = answer.atPlaces.at(tensor.name);
  int64_t width = algebra::bytes(tensor.format);
  Difference difference;
  // An axis that tells no rows apart is compared along its whole length.
  auto compareAt = [&](std::vector<int64_t> &coordinate) {
    int64_t at = 0, from = 0;
    for (size_t axis = 0; axis < coordinate.size(); ++axis) {
      at = at * extents[axis] + coordinate[axis];
      from = from * expected.shape[axis] + coordinate[axis];
    }
    ++difference.elements;
    const uint8_t *wanted = &expected.bytes[from * width];
    if (std::memcmp(wanted, &actual[at * width], width) == 0)
      return;
    if (difference.differing++)
      return;
    difference.coordinate = coordinate;
    difference.expected =
        bitsText(tensor.format, loadBits(tensor.format, wanted));
    difference.actual =
        bitsText(tensor.format, loadBits(tensor.format, &actual[at * width]));
  };
  for (const Place &place : answer.places) {
    std::vector<int64_t> coordinate(extents.size(), -1);
    bool exists = true;
    for (size_t i = 0; i < place.size(); ++i) {
      exists &= place[i] < dims.at(answer.dims[i]);
      auto axis =
          std::find(tensor.dims.begin(), tensor.dims.end(), answer.dims[i]);
      if (axis != tensor.dims.end())
        coordinate[axis - tensor.dims.begin()] = place[i];
      else // the oracle stores what rows share with the first of them
        exists &= place[i] == 0;
    }
    if (!exists)
      continue;
    std::vector<size_t> whole;
    for (size_t axis = 0; axis < coordinate.size(); ++axis)
      if (coordinate[axis] < 0) {
        coordinate[axis] = 0;
        whole.push_back(axis);
      }
    for (bool more = true; more;) {
      compareAt(coordinate);
      more = false;
      for (size_t k = whole.size(); k-- > 0 && !more;) {
        more = ++coordinate[whole[k]] < extents[whole[k]];
        if (!more)
          coordinate[whole[k]] = 0;
      }
    }
  }
  difference.tensor = tensor.name;
  if (difference.differing > 0)
    return difference;
  if (!answer.firstRows)
    return std::nullopt;
  const std::vector<uint8_t> &first = answer.firstRows->at(tensor.name).bytes;
  size_t both = std::min(first.size(), actual.size());
  return compare(tensor, extents, std::span(first).first(both),
                 actual.first(both));
}

int64_t stepsOf(const ContractSpec &contract, const Dims &dims) {
  std::set<std::string> stepped = reducedDims(contract);
  for (const TensorSpec &tensor : contract.tensors)
    if (tensor.output)
      stepped.insert(tensor.dims.begin(), tensor.dims.end());
  int64_t steps = 1;
  for (const std::string &dim : stepped)
    steps = std::min(steps * dims.at(dim), int64_t(1) << 50);
  return steps;
}

Recipe besides(Recipe recipe) {
  switch (recipe) {
  case Recipe::Subnormal:
    return Recipe::Wide;
  case Recipe::Cancellation:
    return Recipe::Constant;
  default:
    return recipe;
  }
}

} // namespace bitpact::evidence
