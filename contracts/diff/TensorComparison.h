// TensorComparison.h - where two tensors differ, and by how many ulps
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_TENSORCOMPARISON_H
#define BITPACT_DIFF_TENSORCOMPARISON_H

#include "contracts/reference/Tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bitpact::diff {

using algebra::Format;
using reference::Tensor;

/// The bits of an element, and their value.
struct Element {
  Format format = Format::F32;
  uint64_t bits = 0;
  double value = 0; ///< of an integer too: tensors of indices are small numbers
};

Element elementAt(const Tensor &tensor, int64_t index);
void storeElement(Tensor &tensor, int64_t index, double value);

/// `0x3f80`, as many digits as the format has.
std::string bitsText(const Element &element);
/// The shortest decimal that is this value of the format.
std::string valueText(const Element &element);

/// Same bits; where the formats differ, the same value, of which a NaN and the
/// signs of zeros are part.
bool same(const Element &a, const Element &b);

struct DifferingElement {
  std::vector<int64_t> coordinate;
  Element a, b;
};

/// How far apart two elements are. Ulps are those of the coarser format, to
/// which the other value is rounded; what is equal then is Below.
struct Distance {
  enum Kind : uint8_t {
    Equal,
    ZeroSign, ///< +0 and -0
    Below,    ///< less than one ulp of the coarser format
    Ulps,
    Class ///< a number and a NaN, or an infinity and something else
  } kind = Equal;
  uint64_t ulps = 0; ///< of Ulps
};
Distance distance(const Element &a, const Element &b);

/// Elements by distance: Ulps in classes 1, 2, 3-4, 5-8, ….
struct UlpHistogram {
  int64_t equal = 0, zeroSign = 0, below = 0, classChanges = 0;
  std::vector<int64_t> ulps; ///< entry i: from 2^(i-1) + 1 to 2^i
  uint64_t largest = 0;
  void add(const Distance &distance);
  void add(const UlpHistogram &other);
  static std::string label(size_t entry); ///< "1", "2", "3-4"
};

/// Over the coordinates that both have: contracts with different extents have
/// outputs of different shapes.
struct TensorComparison {
  int64_t elements = 0, differing = 0;
  std::optional<DifferingElement> first;
  UlpHistogram histogram;
};
TensorComparison compareTensors(const Tensor &a, const Tensor &b);

/// The first differing coordinate alone.
std::optional<DifferingElement> firstDifference(const Tensor &a,
                                                const Tensor &b);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_TENSORCOMPARISON_H
