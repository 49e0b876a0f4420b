//===- KernelDialect.h - the kernel dialect -*- C++ -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_KERNELDIALECT_H
#define BITPACT_DIALECTS_KERNEL_KERNELDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Kernel/KernelDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Kernel/KernelTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.h.inc"

#endif // BITPACT_DIALECTS_KERNEL_KERNELDIALECT_H
