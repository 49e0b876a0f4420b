// ProductSlots.h - the matrices of a launch that another library multiplies
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_RUNTIME_DRIVERS_PRODUCTSLOTS_H
#define BITPACT_RUNTIME_DRIVERS_PRODUCTSLOTS_H

#include "runtime/drivers/Driver.h"
#include "runtime/package/Pin.h"

namespace bitpact::drivers {

// result[m, n] = rows[m, k] times the transpose of columns[n, k]; strides of
// rows in elements.
struct ProductCall {
  const void *rows, *columns;
  void *result, *workspace;
  int64_t m, n, k;
  int64_t rowsStride, columnsStride, resultStride;
};

class ProductSlots {
public:
  ProductSlots(const package::Variant &variant, const package::Pin &pin);
  ProductCall of(const Work &work) const;

private:
  struct Matrix {
    size_t pointer, stride;
  } rows, columns, result;
  size_t rowDim, columnDim, depthDim, workspace;
};

// Throws BITPACT_MISSING_LIBRARY: a variant is what it was pinned to, or it is
// not there.
[[noreturn]] void failLibrary(const package::Variant &variant,
                              const package::Pin &pin,
                              const std::string &found);

} // namespace bitpact::drivers

#endif // BITPACT_RUNTIME_DRIVERS_PRODUCTSLOTS_H
