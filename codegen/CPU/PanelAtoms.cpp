// PanelAtoms.cpp - steps of matrix units in integers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/PanelKernel.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::codegen;

PanelKernel::Operand PanelKernel::split(Value elements, Type format) {
  return {elements, elements};
}

LogicalResult PanelKernel::dot(tile::DotOp op) {
  return op.emitOpError("has no form on CPUs");
}
