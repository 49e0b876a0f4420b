// Partition.h - a reduction axis written as nested digits (rules PI1-PI7)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_ALGEBRA_PARTITION_H
#define BITPACT_ALGEBRA_PARTITION_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitpact::algebra {

/// Where the blocks of a digit come from.
enum class DigitKind : uint8_t {
  Fixed,  ///< `name:radix`
  Star,   ///< `name:*`, as many blocks as are needed
  Offsets ///< `name:@offsets`, blocks between neighbours of an i32 input
};

struct Digit {
  std::string name;
  DigitKind kind = DigitKind::Fixed;
  /// Number of blocks; 0 unless `kind` is Fixed.
  int64_t radix = 0;
  /// The length stated with `@len`, if any.
  std::optional<int64_t> stated;

  std::string text() const;
  bool operator==(const Digit &) const = default;
};

/// A digit for one extent: `radix` blocks of `length` elements, the last ones
/// clipped to the block of the digit to the left. For `@offsets` the length is
/// 0 (it varies) and the radix 0 unless the offsets were given.
struct ResolvedDigit {
  int64_t radix;
  int64_t length;
  bool operator==(const ResolvedDigit &) const = default;
};

/// Π: digits, most significant first. A value of this type has passed every
/// rule that does not need the extent (PI1-PI4, PI6).
class Partition {
public:
  Partition() = default;

  /// Throws RuleError.
  static Partition parse(std::string_view text);

  const std::vector<Digit> &digits() const { return digitList; }
  int size() const { return static_cast<int>(digitList.size()); }
  std::optional<int> find(std::string_view name) const;
  /// Index of the `@offsets` digit.
  std::optional<int> offsetsDigit() const;

  /// Elements in one block of digit `i`. Lengths do not depend on the extent;
  /// 0 for `@offsets`.
  int64_t length(int i) const { return lengths[i]; }

  /// The largest extent the digits cover; nothing when it is unlimited.
  std::optional<int64_t> capacity() const;

  /// Throws RuleError D3 or PI5 unless the digits cover [0, extent).
  void validate(int64_t extent) const;

  /// Validates, and gives the radix and length of every digit. A `*` digit
  /// right of `@offsets` gets the radix that the longest possible block needs:
  /// further blocks are empty, and empty parts merge without any operation.
  std::vector<ResolvedDigit> resolve(int64_t extent) const;

  /// The digits of `position`, 0 <= position < extent. `offsets` are absolute,
  /// ascend from 0 to the extent, and are needed only with `@offsets`.
  std::vector<int64_t> digitsOf(int64_t position,
                                const std::vector<int64_t> &offsets = {}) const;

  /// Canonical text: single spaces, decimal numbers without leading zeros.
  std::string text() const;

  /// The same digits named d0, d1, … : names mean nothing to the arithmetic.
  Partition renamed() const;

  bool operator==(const Partition &) const = default;

private:
  std::vector<Digit> digitList;
  std::vector<int64_t> lengths;
};

/// Throws std::invalid_argument unless the offsets ascend from 0 to `extent`.
void checkOffsets(const std::vector<int64_t> &offsets, int64_t extent);

} // namespace bitpact::algebra

#endif // BITPACT_ALGEBRA_PARTITION_H
