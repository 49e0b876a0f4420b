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
    if (op.at("op") == "index")
      indices[op.at("id")] = op.at("tensor");
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

bool Indices::anyBad(const TensorSpec &tensor, std::span<const uint8_t> bytes,
                    const Dims &dims) const {
  int64_t width = algebra::bytes(tensor.format);
  if (std::string cut = cutBy(contract, tensor); !cut.empty()) {
    std::vector<int64_t> offsets;
    for (size_t at = 0; at < bytes.size(); at += width)
      offsets.push_back(indexAt(tensor.format, &bytes[at]));
    return offsets.size() < 2 || offsets.front() != 0 ||
           offsets.back() != extentOf(cut, dims) ||
           !std::is_sorted(offsets.begin(), offsets.end());
  }
  if (!tensor.index)
    return false;
  int64_t extent = namedBy(tensor.name, dims);
  for (size_t at = 0; at < bytes.size(); at += width) {
    int64_t index = indexAt(tensor.format, &bytes[at]);
    if (index < 0 || index >= extent)
      return true;
  }
  return false;
}

} // namespace bitpact::evidence
