//===- KernelDialect.td - what a schedule produces, target-neutral -*- tablegen -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_DIALECT_TD
#define BITPACT_DIALECTS_KERNEL_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::bitpact::kernel";
  let summary = "launchable bodies with lanes in lockstep and no target in them";
  let description = [{
    A `kernel.func` is the body of one *program*: a set of L lanes that execute
    every operation together. A value that differs between lanes is a
    `vector<L x T>`, a value that is the same in all lanes is a plain scalar,
    and control flow is always uniform. A GPU gives each lane a thread (the
    `kernel-distribute` pass drops the lane dimension); a CPU keeps the vector;
    an interpreter walks the lanes in a loop.

    All arithmetic that can round is explicit: `arith` operations without
    fast-math flags, `kernel.fma`, `kernel.sqrt` and `kernel.narrow`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // BITPACT_DIALECTS_KERNEL_DIALECT_TD
