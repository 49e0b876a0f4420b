// Layout.cpp - tensors placed on a device between guards, at any stride
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Layout.h"

#include <algorithm>
#include <cstring>

namespace bitpact::evidence {
namespace {

/// Keeps the alignment of the allocation and holds a row of any vector.
constexpr int64_t guardBytes = 256;

} // namespace

const std::vector<Layout> &allLayouts() {
  static const std::vector<Layout> layouts{{"contiguous", 0, 0, 0},
                                           {"strided", 64, 0, 3},
                                           {"odd stride", 1, 0, 0},
                                           {"misaligned", 0, 1, 0}};
  return layouts;
}

Placed::Placed(const TensorSpec &tensor, const Device &on, const Layout &layout,
               std::vector<int64_t> extents)
    : spec(tensor), device(on), shape(std::move(extents)) {
  int64_t element = algebra::bytes(spec.format);
  int64_t width = shape.empty() ? 1 : shape.back();
  bool hasRows = shape.size() > 1;
  strides.assign(shape.size(), 1);
  if (shape.size() > 2)
    gap = layout.gap;
  matrixRows = hasRows ? std::max<int64_t>(1, shape[shape.size() - 2]) : 1;
  int64_t next = width + (hasRows ? layout.padding : 0);
  for (size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = next;
    next *= shape[axis - 1] + (axis + 1 == shape.size() ? gap : 0);
  }
  rowBytes = width * element;
  pitch = (width + (hasRows ? layout.padding : 0)) * element;
  start = guardBytes + layout.offset * element;
  image.resize(placeOf(rowCount()) + guardBytes);
  buffer = Buffer(device, image.size());
}

int64_t Placed::rowCount() const {
  int64_t count = 1;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    count *= shape[axis];
  return count;
}

void Placed::put(uint8_t surround, const uint8_t *rows) {
  surroundByte = surround;
  std::memset(image.data(), surround, image.size());
  for (int64_t row = 0; rows && row < rowCount(); ++row)
    std::memcpy(image.data() + placeOf(row), rows + row * rowBytes, rowBytes);
  buffer.upload(image.data(), image.size());
}

std::vector<uint8_t> Placed::rows() {
  buffer.download(image.data(), image.size());
  std::vector<uint8_t> result(rowCount() * rowBytes);
  intact = true;
  auto scan = [&](int64_t from, int64_t to) {
    for (int64_t at = from; intact && at < to; ++at)
      if (image[at] != surroundByte) {
        intact = false;
        stray = at - start;
      }
  };
  scan(0, start);
  for (int64_t row = 0; row < rowCount(); ++row) {
    int64_t at = placeOf(row);
    std::memcpy(result.data() + row * rowBytes, image.data() + at, rowBytes);
    scan(at + rowBytes, placeOf(row + 1));
  }
  scan(placeOf(rowCount()), static_cast<int64_t>(image.size()));
  return result;
}

View Placed::view() const {
  return View(spec, device, static_cast<uint8_t *>(buffer.data()) + start,
              shape, strides);
}

View Placed::slice(int64_t first, int64_t count) const {
  std::vector<int64_t> part = shape;
  part.front() = count;
  int64_t element = algebra::bytes(spec.format);
  return View(spec, device,
              static_cast<uint8_t *>(buffer.data()) + start +
                  first * strides.front() * element,
              part, strides);
}

} // namespace bitpact::evidence
