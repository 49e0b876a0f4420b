// Tensor.h - a tensor in memory: format, shape, row-major bytes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_TENSOR_H
#define BITPACT_REFERENCE_TENSOR_H

#include "contracts/algebra/Format.h"

#include <cstdint>
#include <vector>

namespace bitpact::reference {

/// Contiguous, row-major, little-endian.
struct Tensor {
  algebra::Format format = algebra::Format::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  bool operator==(const Tensor &) const = default;
};

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_TENSOR_H
