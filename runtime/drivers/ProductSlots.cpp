// ProductSlots.cpp - finds the matrices of a product among the arguments
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/drivers/ProductSlots.h"

namespace bitpact::drivers {

using package::Argument;
using package::ArgumentKind;

ProductSlots::ProductSlots(const package::Variant &variant,
                           const package::Pin &pin)
    : workspace(variant.arguments.size()) {
  auto find = [&](ArgumentKind kind, const std::string &name) {
    for (size_t i = 0; i < variant.arguments.size(); ++i) {
      const Argument &argument = variant.arguments[i];
      if (argument.kind == kind &&
          (kind == ArgumentKind::Dim ? argument.dim : argument.tensor) == name)
        return i;
    }
    runtime::fail(BITPACT_BAD_PACKAGE, "variant '{}': '{}' is no argument",
                  variant.id, name);
  };
  auto matrix = [&](const package::PinnedProduct::Matrix &from) {
    return Matrix{find(ArgumentKind::Pointer, from.tensor),
                  find(ArgumentKind::Stride, from.tensor)};
  };
  rows = matrix(pin.product.rows);
  columns = matrix(pin.product.columns);
  result = matrix(pin.product.result);
  rowDim = find(ArgumentKind::Dim, pin.product.rowDim);
  columnDim = find(ArgumentKind::Dim, pin.product.columnDim);
  depthDim = find(ArgumentKind::Dim, pin.product.depthDim);
  for (size_t i = 0; i < variant.arguments.size(); ++i)
    if (variant.arguments[i].kind == ArgumentKind::Workspace)
      workspace = i;
}

ProductCall ProductSlots::of(const Work &work) const {
  const uint64_t *slots = work.slots;
  ProductCall call = {};
  call.rows = reinterpret_cast<const void *>(slots[rows.pointer]);
  call.columns = reinterpret_cast<const void *>(slots[columns.pointer]);
  call.result = reinterpret_cast<void *>(slots[result.pointer]);
  if (workspace < work.slotCount)
    call.workspace = reinterpret_cast<void *>(slots[workspace]);
  call.m = int64_t(slots[rowDim]);
  call.n = int64_t(slots[columnDim]);
  call.k = int64_t(slots[depthDim]);
  // Nobody steps from a lone row to the next, but a library asks.
  auto stride = [&](const Matrix &matrix, int64_t count, int64_t length) {
    return count == 1 ? length : int64_t(slots[matrix.stride]);
  };
  call.rowsStride = stride(rows, call.m, call.k);
  call.columnsStride = stride(columns, call.n, call.k);
  call.resultStride = stride(result, call.m, call.n);
  return call;
}

void failLibrary(const package::Variant &variant, const package::Pin &pin,
                 const std::string &found) {
  runtime::fail(BITPACT_MISSING_LIBRARY,
                "variant '{}' is pinned to {} {} on {}; {}", variant.id,
                pin.library, pin.version, pin.device, found);
}

} // namespace bitpact::drivers
