// BlockTable.cpp - the block of every digit in which each element lies
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/BlockTable.h"

#include <algorithm>
#include <numeric>

namespace bitpact::reference {

using algebra::BoundMerge;
using algebra::Form;

BlockTable::BlockTable(const algebra::Partition &partition, int64_t extent,
                       const std::vector<int64_t> &offsets)
    : digitCount(partition.size()), extent(extent),
      numbers(static_cast<size_t>(extent) * partition.size()) {
  std::vector<int64_t> blocks(digitCount);
  cut(partition, offsets, 0, 0, extent, blocks);
}

/// Cuts [begin, end) by digit and writes the blocks of its elements.
void BlockTable::cut(const algebra::Partition &partition,
                     const std::vector<int64_t> &offsets, int digit,
                     int64_t begin, int64_t end, std::vector<int64_t> &blocks) {
  if (digit == digitCount) {
    std::copy(blocks.begin(), blocks.end(),
              numbers.begin() + begin * digitCount);
    return;
  }
  if (partition.digits()[digit].kind == algebra::DigitKind::Offsets) {
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      blocks[digit] = static_cast<int64_t>(i);
      int64_t low = std::max(begin, offsets[i]);
      int64_t high = std::min(end, offsets[i + 1]);
      if (low < high)
        cut(partition, offsets, digit + 1, low, high, blocks);
    }
    return;
  }
  int64_t length = partition.length(digit);
  int64_t number = 0;
  for (int64_t low = begin; low < end; ++number) {
    blocks[digit] = number;
    int64_t high = end - low > length ? low + length : end;
    cut(partition, offsets, digit + 1, low, high, blocks);
    low = high;
  }
}

bool BlockTable::together(int64_t a, int64_t b,
                          const std::vector<int> &digits) const {
  return std::all_of(digits.begin(), digits.end(), [&](int digit) {
    return block(a, digit) == block(b, digit);
  });
}

std::vector<int64_t> BlockTable::sorted(const std::vector<int> &digits) const {
  std::vector<int64_t> order(extent);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    for (int digit : digits)
      if (block(a, digit) != block(b, digit))
        return block(a, digit) < block(b, digit);
    return false;
  });
  return order;
}

namespace {

/// Merges the parts of one group.
struct Group {
  const BlockTable &table;
  const BoundMerge &entry;
  const EmitMerge &emit;

  int64_t merge(const std::vector<Part> &parts) const {
    if (entry.from)
      for (const Part &part : parts)
        emit(part.slot, -1, entry.from);
    switch (entry.form) {
    case Form::Pairwise: // the last merge is between the highest bit's halves
      return byBit(parts, 62, -1);
    case Form::Halving: // the last merge is between even and odd
      return byBit(parts, 0, 1);
    default: {
      bool any = entry.form == Form::Any;
      for (size_t i = 1; i < parts.size(); ++i)
        emit(parts[0].slot, parts[i].slot,
             any && i + 1 < parts.size() ? std::nullopt : entry.in);
      return parts[0].slot;
    }
    }
  }

  /// Splits by a bit of the block number, merges each side by the next bits,
  /// then both. A side without parts is skipped.
  int64_t byBit(const std::vector<Part> &parts, int bit, int direction) const {
    if (parts.size() == 1)
      return parts[0].slot;
    std::vector<Part> side[2];
    for (const Part &part : parts)
      side[table.block(part.element, entry.digit) >> bit & 1].push_back(part);
    int next = bit + direction;
    if (side[0].empty() || side[1].empty())
      return byBit(side[side[0].empty()], next, direction);
    int64_t into = byBit(side[0], next, direction);
    emit(into, byBit(side[1], next, direction), entry.in);
    return into;
  }
};

} // namespace

std::vector<Part> mergeParts(const BlockTable &table, const BoundMerge &entry,
                             const std::vector<int> &outer,
                             const std::vector<Part> &parts,
                             const EmitMerge &emit) {
  Group group{table, entry, emit};
  std::vector<Part> merged;
  for (size_t begin = 0; begin < parts.size();) {
    size_t end = begin;
    while (end < parts.size() &&
           table.together(parts[begin].element, parts[end].element, outer))
      ++end;
    std::vector<Part> inside(parts.begin() + begin, parts.begin() + end);
    merged.push_back({group.merge(inside), inside[0].element});
    begin = end;
  }
  return merged;
}

} // namespace bitpact::reference
