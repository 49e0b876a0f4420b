// TensorComparison.cpp - where two tensors differ, and by how many ulps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/TensorComparison.h"

#include "contracts/reference/Arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace bitpact::diff {
namespace {

/// Positive and negative numbers in one ascending order; both zeros are 0.
int64_t ordinal(Format format, uint64_t bits) {
  uint64_t sign = uint64_t(1) << (algebra::bits(format) - 1);
  auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

/// Calls f(index in a, index in b, coordinate) over the common coordinates,
/// until it returns false.
template <class F>
void overCommon(const Tensor &a, const Tensor &b, const F &f) {
  std::vector<int64_t> common(a.shape.size()), at(a.shape.size(), 0);
  for (size_t i = 0; i < common.size(); ++i)
    common[i] = std::min(a.shape[i], b.shape[i]);
  for (;;) {
    int64_t inA = 0, inB = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      inA = inA * a.shape[i] + at[i];
      inB = inB * b.shape[i] + at[i];
    }
    if (!f(inA, inB, at))
      return;
    size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == common[axis - 1])
      at[--axis] = 0;
    if (axis == 0)
      return;
  }
}

} // namespace

Element elementAt(const Tensor &tensor, int64_t index) {
  Element element{tensor.format};
  int size = algebra::bytes(tensor.format);
  std::memcpy(&element.bits, tensor.bytes.data() + index * size, size);
  if (tensor.format == Format::I32)
    element.value = static_cast<int32_t>(element.bits);
  else if (tensor.format == Format::I64)
    element.value = static_cast<double>(static_cast<int64_t>(element.bits));
  else
    element.value = reference::decode(tensor.format, element.bits);
  return element;
}

void storeElement(Tensor &tensor, int64_t index, double value) {
  int size = algebra::bytes(tensor.format);
  uint64_t bits = algebra::isFloat(tensor.format)
                      ? reference::encode(tensor.format, value)
                      : static_cast<uint64_t>(static_cast<int64_t>(value));
  std::memcpy(tensor.bytes.data() + index * size, &bits, size);
}

std::string bitsText(const Element &element) {
  return fmt::format("0x{:0{}x}", element.bits,
                     algebra::bits(element.format) / 4);
}

std::string valueText(const Element &element) {
  if (element.format == Format::F64)
    return fmt::format("{}", element.value);
  if (algebra::isFloat(element.format))
    return fmt::format("{}", static_cast<float>(element.value));
  return fmt::format("{}", static_cast<int64_t>(element.value));
}

bool same(const Element &a, const Element &b) {
  if (a.format == b.format)
    return a.bits == b.bits;
  if (std::isnan(a.value) || std::isnan(b.value))
    return std::isnan(a.value) && std::isnan(b.value);
  return std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value);
}

Distance distance(const Element &a, const Element &b) {
  if (same(a, b))
    return {Distance::Equal};
  if (a.value == 0 && b.value == 0)
    return {Distance::ZeroSign};
  if (!std::isfinite(a.value) || !std::isfinite(b.value))
    return {Distance::Class};
  bool coarserIsA =
      algebra::precision(a.format) <= algebra::precision(b.format);
  Format format = coarserIsA ? a.format : b.format;
  uint64_t bitsA = reference::encode(format, a.value);
  uint64_t bitsB = reference::encode(format, b.value);
  if (bitsA == bitsB)
    return {Distance::Below};
  int64_t low = ordinal(format, bitsA), high = ordinal(format, bitsB);
  if (low > high)
    std::swap(low, high);
  return {Distance::Ulps,
          static_cast<uint64_t>(high) - static_cast<uint64_t>(low)};
}

void UlpHistogram::add(const Distance &distance) {
  switch (distance.kind) {
  case Distance::Equal:
    ++equal;
    return;
  case Distance::ZeroSign:
    ++zeroSign;
    return;
  case Distance::Below:
    ++below;
    return;
  case Distance::Class:
    ++classChanges;
    return;
  case Distance::Ulps:
    size_t entry = std::bit_width(distance.ulps - 1);
    if (entry >= ulps.size())
      ulps.resize(entry + 1);
    ++ulps[entry];
    largest = std::max(largest, distance.ulps);
  }
}

void UlpHistogram::add(const UlpHistogram &other) {
  equal += other.equal;
  zeroSign += other.zeroSign;
  below += other.below;
  classChanges += other.classChanges;
  if (ulps.size() < other.ulps.size())
    ulps.resize(other.ulps.size());
  for (size_t i = 0; i < other.ulps.size(); ++i)
    ulps[i] += other.ulps[i];
  largest = std::max(largest, other.largest);
}

std::string UlpHistogram::label(size_t entry) {
  if (entry < 2)
    return std::to_string(entry + 1);
  uint64_t high = uint64_t(1) << entry;
  return fmt::format("{}-{}", high / 2 + 1, high);
}

TensorComparison compareTensors(const Tensor &a, const Tensor &b) {
  TensorComparison result;
  overCommon(a, b, [&](int64_t inA, int64_t inB, const auto &coordinate) {
    Element left = elementAt(a, inA), right = elementAt(b, inB);
    Distance apart = distance(left, right);
    ++result.elements;
    result.histogram.add(apart);
    if (apart.kind != Distance::Equal) {
      ++result.differing;
      if (!result.first)
        result.first = {coordinate, left, right};
    }
    return true;
  });
  return result;
}

std::optional<DifferingElement> firstDifference(const Tensor &a,
                                                const Tensor &b) {
  std::optional<DifferingElement> first;
  if (a.format == b.format && a.shape == b.shape && a.bytes == b.bytes)
    return first;
  overCommon(a, b, [&](int64_t inA, int64_t inB, const auto &coordinate) {
    Element left = elementAt(a, inA), right = elementAt(b, inB);
    if (!same(left, right))
      first = {coordinate, left, right};
    return !first;
  });
  return first;
}

} // namespace bitpact::diff
