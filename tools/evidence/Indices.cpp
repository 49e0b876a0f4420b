// Indices.cpp - generated inputs where a contract has indices or stored rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Indices.h"

#include "tools/evidence/Elements.h"

#include <algorithm>
#include <cstring>
#include <limits>

using bitpact::algebra::Format;
using bitpact::reference::Tensor;
using nlohmann::json;

namespace bitpact::evidence {
namespace {

int64_t indexAt(Format format, const uint8_t *at) {
  uint64_t bits = loadBits(format, at);
  return format == Format::I32 ? int64_t(int32_t(uint32_t(bits)))
                               : int64_t(bits);
}

std::vector<int64_t> integersOf(const TensorSpec &tensor,
                                std::span<const uint8_t> bytes) {
  std::vector<int64_t> integers;
  for (size_t at = 0; at < bytes.size(); at += algebra::bytes(tensor.format))
    integers.push_back(indexAt(tensor.format, &bytes[at]));
  return integers;
}

/// SplitMix64: the same on every machine.
uint64_t mixed(uint64_t seed) {
  seed += 0x9e3779b97f4a7c15;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
  return seed ^ (seed >> 31);
}

/// The index at `row` depends on seed, recipe and row alone, so that fewer
/// rows are a prefix of more rows.
int64_t indexFor(Recipe recipe, uint64_t seed, Format format, int64_t row,
                 int64_t extent) {
  uint64_t random = mixed(mixed(seed) ^ mixed(uint64_t(recipe) << 48 ^ row));
  if (recipe == Recipe::Special && row % 4 == 2) {
    bool narrow = format == Format::I32;
    using Narrow = std::numeric_limits<int32_t>;
    using Wide = std::numeric_limits<int64_t>;
    const int64_t bad[] = {-1, extent, extent + 1,
                           narrow ? Narrow::min() : Wide::min(),
                           narrow ? Narrow::max() : Wide::max()};
    return bad[random % 5];
  }
  switch (row % 4) {
  case 0:
    return extent - 1;
  case 1:
    return 0;
  default:
    return int64_t(random % uint64_t(extent));
  }
}

} // namespace

Indices::Indices(const ContractSpec &of) : contract(of) {
  json text = json::parse(contract.text);
  std::map<std::string, std::string> indices; // value -> tensor
  for (const json &op : text.at("op").at("body")) {
    if (op.at("op") == "index" || op.at("op") == "input")
      indices[op.at("id")] = op.at("tensor");
    if (op.at("op") == "segment")
      indices[op.at("id")] = indices[op.at("args").at(0).get<std::string>()];
    if (op.at("op") == "take") {
      auto found = indices.find(op.at("args").at(1).get<std::string>());
      if (found != indices.end())
        over[found->second] = op.at("over");
    }
  }
  for (const json &node : text.value("nodes", json::object())) {
    const json &domain = node.at("domain");
    if (!domain.is_object())
      continue;
    for (const auto &[dim, what] : domain.items())
      if (what.is_object() && what.contains("extent"))
        existing[dim] = what.at("extent");
  }
}

int64_t Indices::extentOf(const std::string &dim, const Dims &dims) const {
  auto found = existing.find(dim);
  return found == existing.end() ? dims.at(dim) : found->second;
}

int64_t Indices::namedBy(const std::string &index, const Dims &dims) const {
  auto found = over.find(index);
  return found == over.end() ? std::numeric_limits<int32_t>::max()
                             : extentOf(found->second, dims);
}

Tensor Indices::generate(Recipe recipe, uint64_t seed, const TensorSpec &tensor,
                        const Dims &dims, bool shared) const {
  std::vector<int64_t> shape = shapeOf(tensor, dims);
  int64_t width = algebra::bytes(tensor.format);
  if (tensor.index) {
    Tensor result{tensor.format, shape, {}};
    result.bytes.resize(elementsOf(shape) * width);
    int64_t extent = namedBy(tensor.name, dims);
    for (int64_t row = 0; row < elementsOf(shape); ++row)
      storeBits(tensor.format, &result.bytes[row * width],
                uint64_t(indexFor(recipe, seed, tensor.format, row, extent)));
    return result;
  }
  Tensor result =
      generateInput(contract, tensor, recipe, seed, dims, shared);
  if (tensor.dims.empty() || !algebra::isFloat(tensor.format))
    return result;
  int64_t stored = shape.back(), exists = extentOf(tensor.dims.back(), dims);
  for (int64_t row = 0; exists < stored && row < elementsOf(shape) / stored;
       ++row)
    std::memset(&result.bytes[(row * stored + exists) * width], 0xff,
                (stored - exists) * width);
  return result;
}

bool Indices::ascend(const TensorSpec &tensor,
                     const std::vector<int64_t> &offsets,
                     const Dims &dims) const {
  return offsets.size() >= 2 && offsets.front() == 0 &&
         offsets.back() == extentOf(cutBy(contract, tensor), dims) &&
         std::is_sorted(offsets.begin(), offsets.end());
}

std::vector<uint8_t> Indices::ofRow(const TensorSpec &tensor,
                                    std::span<const uint8_t> bytes,
                                    const Dims &dims, int64_t row) const {
  std::vector<uint8_t> result(bytes.begin(), bytes.end());
  std::vector<int64_t> offsets = integersOf(tensor, bytes);
  if (!ascend(tensor, offsets, dims))
    return result;
  for (size_t i = 0; i < offsets.size(); ++i)
    storeBits(tensor.format, &result[i * algebra::bytes(tensor.format)],
              uint64_t(std::clamp<int64_t>(offsets[i] - row, 0, 1)));
  return result;
}

bool Indices::anyBad(const TensorSpec &tensor, std::span<const uint8_t> bytes,
                    const Dims &dims) const {
  if (!cutBy(contract, tensor).empty()) {
    std::vector<int64_t> offsets = integersOf(tensor, bytes);
    if (!ascend(tensor, offsets, dims))
      return true;
    auto taken = over.find(tensor.name);
    if (taken == over.end())
      return false;
    size_t blocks = offsets.size() - 1;
    auto there = static_cast<size_t>(extentOf(taken->second, dims));
    return there < blocks && offsets[there] != offsets[blocks];
  }
  if (!tensor.index)
    return false;
  int64_t extent = namedBy(tensor.name, dims);
  for (int64_t index : integersOf(tensor, bytes))
    if (index < 0 || index >= extent)
      return true;
  return false;
}

int64_t
Indices::positionsRead(const TensorSpec &tensor,
                       const std::map<std::string, reference::Tensor> &inputs,
                       const Dims &dims) const {
  if (tensor.dims.empty())
    return 1;
  int64_t all = dims.at(tensor.dims.front());
  for (const TensorSpec &other : contract.tensors) {
    auto taken = over.find(other.name);
    if (taken == over.end() || other.index ||
        taken->second != tensor.dims.front())
      continue;
    std::vector<int64_t> offsets =
        integersOf(other, inputs.at(other.name).bytes);
    int64_t some = 0;
    for (size_t i = 1; i < offsets.size(); ++i)
      some += offsets[i - 1] < offsets[i];
    return std::min(some, all);
  }
  return all;
}

} // namespace bitpact::evidence
