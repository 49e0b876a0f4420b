// RowAxis.h - the dim along which the elements of a row lie
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_ROWAXIS_H
#define BITPACT_DIALECTS_PACT_ROWAXIS_H

#include "dialects/Pact/Pact.h"

namespace bitpact::pact {

/// Whether every element of the operator's outputs is computed by itself.
inline bool isElementwise(OperatorOp op) {
  return op.getOps<ReduceOp>().empty();
}

/// The dim that the last node reduces; of an element-wise operator the last one
/// of all, whose neighbours lie side by side. Null where there is no dim.
inline mlir::StringAttr rowAxis(OperatorOp op) {
  mlir::StringAttr axis;
  for (ReduceOp reduce : op.getOps<ReduceOp>())
    axis = reduce.getOverAttr();
  if (!axis && !op.getDims().empty())
    axis = llvm::cast<mlir::StringAttr>(op.getDims()[op.getDims().size() - 1]);
  return axis;
}

} // namespace bitpact::pact

#endif // BITPACT_DIALECTS_PACT_ROWAXIS_H
