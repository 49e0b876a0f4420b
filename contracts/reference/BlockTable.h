// BlockTable.h - the block of every digit in which each element lies
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_BLOCKTABLE_H
#define BITPACT_REFERENCE_BLOCKTABLE_H

#include "contracts/algebra/MergeOrder.h"
#include "contracts/algebra/Partition.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bitpact::reference {

/// Cut out of the extent block by block, without the algebra's digits of a
/// position, so that each checks the other.
class BlockTable {
public:
  BlockTable(const algebra::Partition &partition, int64_t extent,
             const std::vector<int64_t> &offsets);

  int64_t block(int64_t element, int digit) const {
    return numbers[element * digitCount + digit];
  }

  /// Whether two elements lie in one block of each of these digits.
  bool together(int64_t a, int64_t b, const std::vector<int> &digits) const;

  /// All elements, by their blocks of `digits`, of which the first varies
  /// slowest.
  std::vector<int64_t> sorted(const std::vector<int> &digits) const;

private:
  void cut(const algebra::Partition &partition,
           const std::vector<int64_t> &offsets, int digit, int64_t begin,
           int64_t end, std::vector<int64_t> &blocks);

  int digitCount;
  int64_t extent;
  std::vector<int64_t> numbers;
};

/// A partial: the slot that holds it and one of its elements.
struct Part {
  int64_t slot, element;
};

/// slots[into] meets slots[from] and the result is rounded to `format` if set;
/// with `from` negative only the rounding.
using EmitMerge = std::function<void(int64_t into, int64_t from,
                                     std::optional<algebra::Format> format)>;

/// Merges as one entry says. Parts that lie together in the blocks of `outer`
/// are neighbours in `parts`, and become one part of the result.
std::vector<Part> mergeParts(const BlockTable &table,
                             const algebra::BoundMerge &entry,
                             const std::vector<int> &outer,
                             const std::vector<Part> &parts,
                             const EmitMerge &emit);

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_BLOCKTABLE_H
