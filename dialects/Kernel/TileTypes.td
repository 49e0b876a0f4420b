//===- TileTypes.td - blocks, pipes, sums and the tile schedule -*- tablegen -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_TILETYPES_TD
#define BITPACT_DIALECTS_KERNEL_TILETYPES_TD

include "dialects/Kernel/TileDialect.td"

class Tile_Type<string name, string kind> : TypeDef<Tile_Dialect, name> {
  let mnemonic = kind;
}

def Tile_View : Tile_Type<"View", "view"> {
  let summary = "a matrix in a tensor of the caller";
  let description = [{
    Rows of consecutive elements. Beyond its extents it reads as zero and takes
    no element. Example: `!tile.view<bf16>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

class Tile_Shaped<string name, string kind> : Tile_Type<name, kind> {
  let parameters = (ins "int64_t":$rows, "int64_t":$cols,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<Shape>($rows, $cols, $elementType) `>`";
  let genVerifyDecl = 1;
}

def Tile_Block : Tile_Shaped<"Block", "block"> {
  let summary = "a block of a view in storage that all roles see";
  let description = [{
    How its elements lie there is the target's affair. Example:
    `!tile.block<128x64xbf16>`.
  }];
}

def Tile_Pending : Tile_Shaped<"Pending", "pending"> {
  let summary = "sums of products that may not be complete yet";
  let description = [{
    Only another product can be added to them. Example:
    `!tile.pending<64x256xf32>`.
  }];
}

def Tile_Values : Tile_Shaped<"Values", "values"> {
  let summary = "numbers that a consumer holds, one for each element of a block";
  let description = "Example: `!tile.values<64x256xf32>`.";
}

def Tile_Pipe : Tile_Type<"Pipe", "pipe"> {
  let summary = "stages through which blocks go from the producer to consumers";
  let description = [{
    Every stage holds one block of each type. Example:
    `!tile.pipe<4 of !tile.block<128x64xbf16>, !tile.block<256x64xbf16>>`.
  }];
  let parameters = (ins "int64_t":$stages,
                        ArrayRefParameter<"::mlir::Type">:$blocks);
  let assemblyFormat = "`<` $stages `of` $blocks `>`";
  let genVerifyDecl = 1;
}

def Tile_Schedule : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how blocks of a product meet hardware; never moves bits";
  let description = [{
    * `m`, `n`: rows and columns of the block of the result that a program
      computes at a time;
    * `k`: elements of the reduced dim in a stage;
    * `stages`: stages of the pipe;
    * `consumers`: roles that share the rows of a block among themselves;
    * `group`: blocks above each other that are computed together, so that they
      find what they share in a cache;
    * `copy`: by a producer, `bulk` (whole blocks by a unit of the target, which
      asks for aligned rows) or `plain`; or by the consumers themselves, each a
      share of every block, `async` (what has been committed arrives by itself)
      or `registers` (on its way it lies in registers, up to the commit);
      or `own` where a program has no roles and packs the blocks that it
      multiplies itself, one stage at a time;
    * `producer_registers`, `consumer_registers`: 32-bit registers of a lane of
      the role, 0 where the target divides them;
    * `cluster`: units of the target that compute a block together, 1 if left
      out. Each has its share of the consumers and the rows that these need;
      what all consumers need one of them brings to all, in turn;
    * `held`: of the slots of `tile.hold` how many, from the first on, registers
      hold, 0 if left out; shared memory holds the others;
    * `split`: units of the target that compute a block together, each some parts
      of its sums over the reduced dim, 1 if left out. Each has a producer, a pipe
      and consumers of its own; the parts meet in `tile.meet`;
    * `panel_rows`, `panel_cols`, `lanes`: of `own` blocks the rows and columns
      whose sums are in registers at a time, in vectors of so many columns.

    Example: `#tile.schedule<m = 128, n = 256, k = 64, stages = 4,
    consumers = 2, group = 8, copy = "bulk", producer_registers = 40,
    consumer_registers = 232>`.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
                        "int64_t":$stages, "int64_t":$consumers,
                        "int64_t":$group, StringRefParameter<>:$copy,
                        "int64_t":$producerRegisters,
                        "int64_t":$consumerRegisters,
                        DefaultValuedParameter<"int64_t", "1">:$cluster,
                        DefaultValuedParameter<"int64_t", "0">:$held,
                        DefaultValuedParameter<"int64_t", "0">:$panelRows,
                        DefaultValuedParameter<"int64_t", "0">:$panelCols,
                        DefaultValuedParameter<"int64_t", "0">:$lanes,
                        DefaultValuedParameter<"int64_t", "1">:$split);
  let builders = [
    AttrBuilder<(ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
                     "int64_t":$stages, "int64_t":$consumers, "int64_t":$group,
                     "::llvm::StringRef":$copy, "int64_t":$producerRegisters,
                     "int64_t":$consumerRegisters, CArg<"int64_t", "1">:$cluster,
                     CArg<"int64_t", "0">:$held, CArg<"int64_t", "1">:$split), [{
      return $_get($_ctxt, m, n, k, stages, consumers, group, copy,
                   producerRegisters, consumerRegisters, cluster, held, 0, 0, 0,
                   split);
    }]>,
    AttrBuilder<(ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
                     "int64_t":$stages, "int64_t":$consumers, "int64_t":$group,
                     "::llvm::StringRef":$copy, "int64_t":$producerRegisters,
                     "int64_t":$consumerRegisters, "int64_t":$cluster,
                     "int64_t":$held, "int64_t":$panelRows, "int64_t":$panelCols,
                     "int64_t":$lanes), [{
      return $_get($_ctxt, m, n, k, stages, consumers, group, copy,
                   producerRegisters, consumerRegisters, cluster, held, panelRows,
                   panelCols, lanes, 1);
    }]>
  ];
  let assemblyFormat = [{
    `<` `m` `=` $m `,` `n` `=` $n `,` `k` `=` $k `,` `stages` `=` $stages `,`
    `consumers` `=` $consumers `,` `group` `=` $group `,` `copy` `=` $copy `,`
    `producer_registers` `=` $producerRegisters `,`
    `consumer_registers` `=`
    custom<ScheduleTail>($consumerRegisters, $cluster, $held, $panelRows, $panelCols,
                         $lanes, $split) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Rows of a block that one consumer has.
    int64_t rowsPerConsumer() const { return getM() / getConsumers(); }
    /// Consumers of one unit of a cluster.
    int64_t consumersPerUnit() const { return getConsumers() / getCluster(); }
    /// Units of the target that compute a block together.
    int64_t units() const { return getCluster() * getSplit(); }
    bool isSplit() const { return getSplit() > 1; }
    /// Columns of a block of which one unit has the whole sums.
    int64_t colsPerUnit() const { return getN() / getSplit(); }
    bool copiesInBulk() const { return getCopy() == "bulk"; }
    /// Whether consumers copy, without a producer.
    bool sharesCopies() const {
      return getCopy() == "async" || getCopy() == "registers";
    }
    /// A program has no roles and packs its blocks itself.
    bool packsOwn() const { return getCopy() == "own"; }
    /// One line for manifests and reports.
    std::string text() const;
  }];
}

#endif // BITPACT_DIALECTS_KERNEL_TILETYPES_TD
