// Ulps.h - how far two kept rows of one site lie apart
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ULPS_H
#define BITPACT_EVIDENCE_ULPS_H

#include "contracts/algebra/Format.h"
#include "tools/evidence/TensorFile.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace bitpact::evidence {

/// Steps from one value to the other through all values of the format; +0 and
/// -0 are one step apart.
uint64_t ulpsBetween(algebra::Format format, uint64_t a, uint64_t b);

struct UlpStatistics {
  uint64_t rows = 0, elements = 0, differing = 0;
  /// Elements of which one is NaN, or both with other bits.
  uint64_t nans = 0;
  uint64_t largest = 0;
  /// 0, 1, 2, 3-4, 5-8, …: bucket k > 0 ends at 2^(k-1).
  std::array<uint64_t, 66> histogram{};

  void add(algebra::Format format, const uint8_t *a, const uint8_t *b,
           int64_t elements);
  /// `0: 12, 1: 3, 3-4: 1`.
  std::string text() const;
};

/// The rows that a run kept, read when they are asked for. Paths are relative
/// to the folder of the record file.
class KeptRows {
public:
  explicit KeptRows(const std::string &recordFile);

  struct Row {
    std::shared_ptr<const Tensor> tensor;
    const uint8_t *bytes = nullptr;
    int64_t length = 0, elements = 0;
  };
  /// Row `index` along the first axis. Throws UserError.
  Row row(const std::string &path, int64_t index);

private:
  std::string folder;
  std::deque<std::pair<std::string, std::shared_ptr<const Tensor>>> recent;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_ULPS_H
