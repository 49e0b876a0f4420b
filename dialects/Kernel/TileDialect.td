//===- TileDialect.td - tiles, roles and staged pipes, target-neutral -*- tablegen -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_TILEDIALECT_TD
#define BITPACT_DIALECTS_KERNEL_TILEDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::bitpact::tile";
  let summary = "launchable bodies that work on blocks, with no target in them";
  let description = [{
    A `tile.func` is the body of one *program* that computes blocks of a matrix,
    one after the other. Its work is shared by *roles*: a producer copies blocks
    of tensors into the stages of a pipe, consumers multiply what they find
    there. A role is a warp or a warpgroup on a GPU and a thread on a CPU;
    within a role everything is uniform, and elements are never named.

    Products are asynchronous: `tile.dot` says that one begins, and its sums
    exist only as results of `tile.await`. Arithmetic on elements stands in
    regions of `tile.map`, in the operations that row kernels use too (`arith`,
    `kernel.fma`, `kernel.sqrt`, `kernel.narrow`).

    Block coordinates are i32: every dim of a tile kernel is below 2^31.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::bitpact::kernel::KernelDialect"];
}

#endif // BITPACT_DIALECTS_KERNEL_TILEDIALECT_TD
