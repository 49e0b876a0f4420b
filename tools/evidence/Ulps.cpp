// Ulps.cpp - how far two kept rows of one site lie apart
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Ulps.h"

#include "tools/evidence/Elements.h"
#include "tools/evidence/UserError.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace bitpact::evidence {
namespace {

/// Kept tensors that stay in memory.
constexpr size_t recentTensors = 4;

} // namespace

uint64_t ulpsBetween(algebra::Format format, uint64_t a, uint64_t b) {
  // Negative values count down from just below +0.
  auto place = [&](uint64_t bits) {
    uint64_t sign = uint64_t(1) << (algebra::bits(format) - 1);
    bool negative = algebra::isFloat(format) && (bits & sign);
    uint64_t zero = uint64_t(1) << 63; // room on both sides
    return negative ? zero - 1 - (bits & ~sign) : zero + (bits & ~sign);
  };
  if (!algebra::isFloat(format))
    return a > b ? a - b : b - a;
  uint64_t x = place(a), y = place(b);
  return x > y ? x - y : y - x;
}

void UlpStatistics::add(algebra::Format format, const uint8_t *a,
                        const uint8_t *b, int64_t count) {
  ++rows;
  int bytes = algebra::bytes(format);
  for (int64_t i = 0; i < count; ++i, a += bytes, b += bytes) {
    ++elements;
    uint64_t x = loadBits(format, a), y = loadBits(format, b);
    if (x == y) {
      ++histogram[0];
      continue;
    }
    ++differing;
    if (algebra::isFloat(format) &&
        (std::isnan(decode(format, x)) || std::isnan(decode(format, y)))) {
      ++nans;
      continue;
    }
    uint64_t distance = ulpsBetween(format, x, y);
    largest = std::max(largest, distance);
    size_t bucket = 1;
    while (bucket < 65 && (uint64_t(1) << (bucket - 1)) < distance)
      ++bucket;
    ++histogram[bucket];
  }
}

std::string UlpStatistics::text() const {
  std::string text;
  for (size_t k = 0; k < histogram.size(); ++k) {
    if (!histogram[k])
      continue;
    uint64_t last = k ? uint64_t(1) << std::min<size_t>(k - 1, 63) : 0;
    std::string range = k < 3     ? std::to_string(last)
                        : k == 65 ? fmt::format("above {}", last)
                                  : fmt::format("{}-{}", last / 2 + 1, last);
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : ", ", range, histogram[k]);
  }
  if (nans)
    text += fmt::format("{}NaN: {}", text.empty() ? "" : ", ", nans);
  return text;
}

KeptRows::KeptRows(const std::string &recordFile)
    : folder(std::filesystem::path(recordFile).parent_path().string()) {}

KeptRows::Row KeptRows::row(const std::string &path, int64_t index) {
  std::shared_ptr<const Tensor> tensor;
  for (const auto &[name, one] : recent)
    if (name == path)
      tensor = one;
  if (!tensor) {
    TensorPath where = parseTensorPath(path);
    where.file = (std::filesystem::path(folder) / where.file).string();
    tensor = std::make_shared<const Tensor>(readTensor(where));
    recent.emplace_back(path, tensor);
    if (recent.size() > recentTensors)
      recent.pop_front();
  }
  int64_t rows = tensor->shape.empty() ? 0 : tensor->shape[0];
  if (index < 0 || index >= rows)
    throw UserError(
        path, fmt::format("has {} rows, row {} is asked for", rows, index));
  Row row{tensor};
  row.length = int64_t(tensor->bytes.size()) / rows;
  row.elements = row.length / algebra::bytes(tensor->format);
  row.bytes = tensor->bytes.data() + index * row.length;
  return row;
}

} // namespace bitpact::evidence
