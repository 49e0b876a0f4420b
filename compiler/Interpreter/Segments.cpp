// Segments.cpp - in which block between offsets a position lies
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Segments.h"

#include "contracts/reference/Arithmetic.h"

#include <limits>

using namespace bitpact;
using namespace bitpact::interpreter;

int64_t interpreter::segmentOf(const Buffer &offsets, int64_t extent,
                               int64_t position) {
  int64_t block = -1, before = 0;
  for (size_t i = 0; i < offsets.cells.size(); ++i) {
    int64_t offset = int32_t(offsets.cells[i].bits);
    if (offset < before || (i == 0 && offset != 0))
      return -1;
    if (offset <= position)
      block = int64_t(i);
    before = offset;
  }
  return before == extent ? block : -1;
}

uint64_t interpreter::notANumber(Scalar format) {
  return reference::encode(formatOf(format),
                           std::numeric_limits<double>::quiet_NaN());
}
