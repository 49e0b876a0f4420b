// Layout.h - tensors placed on a device between guards, at any stride
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_LAYOUT_H
#define BITPACT_EVIDENCE_LAYOUT_H

#include "tools/evidence/Runtime.h"

namespace bitpact::evidence {

/// How rows (the last axis) lie in memory.
struct Layout {
  std::string name;
  /// Elements between the end of a row and the start of the next.
  int64_t padding = 0;
  /// Elements by which the first row is moved off its alignment.
  int64_t offset = 0;
  /// Rows between the matrices of a tensor of three dims.
  int64_t gap = 0;
};

/// Contiguous first; every layout a launch may have.
const std::vector<Layout> &allLayouts();

/// A tensor on a device. Guards before and after it and the padding between
/// its rows hold one byte value, by which reads (NaN) and writes out of place
/// show.
class Placed {
public:
  static constexpr uint8_t inputPoison = 0xff;

  Placed(const TensorSpec &spec, const Device &device, const Layout &layout,
         std::vector<int64_t> shape);

  /// Everything becomes `surround`, then the rows are put in, if given.
  void put(uint8_t surround, const uint8_t *rows);
  /// The rows as they are now.
  std::vector<uint8_t> rows();
  /// After rows(): the first byte outside the rows that is not `surround`, as
  /// a distance from the tensor's start, or nothing.
  bool surroundIntact() const { return intact; }
  int64_t strayByte() const { return stray; }

  View view() const;
  /// The view of `count` rows from `first` along the first axis.
  View slice(int64_t first, int64_t count) const;

private:
  int64_t rowCount() const;
  /// Where a row begins in the image.
  int64_t placeOf(int64_t row) const {
    return start + (row + row / matrixRows * gap) * pitch;
  }
  TensorSpec spec;
  Device device;
  std::vector<int64_t> shape, strides;
  int64_t rowBytes = 0, pitch = 0, start = 0, matrixRows = 1, gap = 0;
  std::vector<uint8_t> image;
  Buffer buffer;
  uint8_t surroundByte = 0;
  bool intact = true;
  int64_t stray = 0;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_LAYOUT_H
