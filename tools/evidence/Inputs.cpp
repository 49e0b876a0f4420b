// Inputs.cpp - generated data for the inputs of a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Inputs.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

using bitpact::reference::Tensor;
using nlohmann::json;

namespace bitpact::evidence {
namespace {

/// The recipe gives another list for each kind of data.
std::vector<int64_t> offsetsFor(Recipe recipe, uint64_t seed, int64_t count,
                                int64_t extent) {
  std::mt19937_64 engine(seed * 1000003 + static_cast<uint64_t>(recipe));
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  };
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i + 2 < count; ++i) {
    int64_t at = below(extent + 1);
    switch (below(4)) {
    case 0: // near a tile's end
      at = at / 256 * 256 + below(3) - 1;
      break;
    case 1: // an empty block, or one of a single element
      if (!offsets.empty())
        at = offsets.back() + below(2);
      break;
    default:
      break;
    }
    offsets.push_back(std::clamp<int64_t>(at, 0, extent));
  }
  offsets.push_back(0);
  if (count > 1)
    offsets.push_back(extent);
  std::sort(offsets.begin(), offsets.end());
  if (recipe == Recipe::Special && (count + extent) % 2) {
    size_t at = size_t(below(count));
    const int64_t bad[] = {-1, extent + 1, std::numeric_limits<int32_t>::min(),
                           std::numeric_limits<int32_t>::max()};
    offsets[at] = bad[below(4)];
  }
  return offsets;
}

} // namespace

std::string cutBy(const ContractSpec &contract, const TensorSpec &tensor) {
  json text = json::parse(contract.text);
  const json nodes = text.value("nodes", json::object());
  for (const json &node : nodes)
    if (node.value("offsets", "") == tensor.name) {
      const json &domain = node.at("domain");
      return domain.is_string() ? domain.get<std::string>()
                                : domain.begin().key();
    }
  std::string value;
  const json body =
      text.value("op", json::object()).value("body", json::array());
  for (const json &op : body) {
    if (op.at("op") == "input" && op.at("tensor") == tensor.name)
      value = op.at("id").get<std::string>();
    if (op.at("op") == "segment" && op.at("args").at(0) == value)
      return op.at("over").get<std::string>();
  }
  return "";
}

Tensor generateInput(const ContractSpec &contract, const TensorSpec &tensor,
                     Recipe recipe, uint64_t seed, const Dims &dims,
                     bool shared) {
  std::vector<int64_t> shape = shapeOf(tensor, dims);
  std::string cut = cutBy(contract, tensor);
  if (cut.empty())
    return generate(recipe, seed, tensor.name, tensor.format, shape, shared);
  Tensor offsets{tensor.format, shape, {}};
  for (int64_t value :
       offsetsFor(recipe, seed, elementsOf(shape), dims.at(cut))) {
    auto narrow = static_cast<int32_t>(value);
    uint8_t bytes[sizeof narrow];
    std::memcpy(bytes, &narrow, sizeof narrow);
    offsets.bytes.insert(offsets.bytes.end(), bytes, bytes + sizeof narrow);
  }
  return offsets;
}

} // namespace bitpact::evidence
