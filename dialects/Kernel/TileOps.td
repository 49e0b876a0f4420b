//===- TileOps.td - functions, roles and pipes of tile kernels -*- tablegen -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_TILEOPS_TD
#define BITPACT_DIALECTS_KERNEL_TILEOPS_TD

include "dialects/Kernel/KernelTypes.td"
include "dialects/Kernel/TileTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

//===- structure -----------------------------------------------------------===//

def Tile_FuncOp : Tile_Op<"func", [IsolatedFromAbove, Symbol, SingleBlock,
                                   NoTerminator]> {
  let summary = "the body of one program of a launch of blocks";
  let description = [{
    Arguments follow the calling convention of packages, as those of
    `kernel.func`; `slots` names them in order. The body makes views and pipes
    and then has one `tile.roles`, or, where a program packs its own blocks,
    makes views and computes blocks of the result.

    Example:
    ```mlir
    tile.func @f(%x: !kernel.buffer<bf16>, %x.s0: i64, %tokens: i64, %in: i64)
        slots ["x", "x:0", "tokens", "in"]
        schedule <m = 128, n = 256, k = 64, stages = 4, consumers = 2,
                  group = 8, copy = "bulk", producer_registers = 40,
                  consumer_registers = 232> {
      %view = tile.view %x[%tokens, %in] stride %x.s0
        : !kernel.buffer<bf16>, !tile.view<bf16>
    }
    ```
  }];
  let arguments = (ins Kernel_Name:$sym_name, StrArrayAttr:$slots,
                       Tile_Schedule:$schedule, OptionalAttr<StrAttr>:$contract);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The argument of that slot name; null if there is none.
    ::mlir::BlockArgument slot(::llvm::StringRef name);
  }];
}

def Tile_ProgramOp : Tile_Op<"program", [Pure]> {
  let summary = "which program this is";
  let description = [{
    Programs are persistent: each takes every n-th block, where n is
    `tile.programs`. Example: `%p = tile.program`.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_ProgramsOp : Tile_Op<"programs", [Pure]> {
  let summary = "how many programs a launch has";
  let description = "Example: `%n = tile.programs`.";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_UnitOp : Tile_Op<"unit", [Pure]> {
  let summary = "which unit of its program this is";
  let description = [{
    From 0 to one less than the schedule's `split`. Example: `%u = tile.unit`.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_OffsetOp : Tile_Op<"offset", [MemoryEffects<[MemRead]>]> {
  let summary = "an offset at which a dim is cut";
  let description = [{
    The buffer is an input of the function that nothing writes during a launch.
    Example: `%o = tile.offset %offsets[%e] : !kernel.buffer<i32>`.
  }];
  let arguments = (ins Kernel_Buffer:$buffer, I32:$index);
  let results = (outs I32:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` qualified(type($buffer))";
  let hasVerifier = 1;
}

def Tile_FaultOp : Tile_Op<"fault", [MemoryEffects<[MemWrite]>]> {
  let summary = "says that a number was not what it must be";
  let description = [{
    Sets the word to 1 where `mask` holds. The caller may have given no word;
    then nothing is written. Example:
    `tile.fault %word mask %m : !kernel.buffer<i32>`.
  }];
  let arguments = (ins Kernel_Buffer:$word, I1:$mask);
  let assemblyFormat = "$word `mask` $mask attr-dict `:` qualified(type($word))";
  let hasVerifier = 1;
}

def Tile_ViewOp : Tile_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a tensor as a matrix, or as a stack of them";
  let description = [{
    `stride` elements lie between the beginnings of neighbouring rows; buffer,
    extents and stride are arguments of the function, so that a target may
    describe the matrix before the launch.

    Instead of a stride, a view `along` a dim is of a vector: its elements are
    those of every row (`cols`) or of every column (`rows`).

    A `stack` is of so many matrices, which begin `apart` elements from each
    other; who reads it says which matrix.

    Example:
    ```mlir
    %v = tile.view %x[%tokens, %in] stride %x.s0
      : !kernel.buffer<bf16>, !tile.view<bf16>
    %w = tile.view %weight[%out, %in] stride %weight.s1
      stack %experts apart %weight.s0 : !kernel.buffer<bf16>, !tile.view<bf16>
    %b = tile.view %bias[%tokens, %out] along "cols"
      : !kernel.buffer<bf16>, !tile.view<bf16>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$buffer, I64:$rows, I64:$cols,
                       Optional<I64>:$stride, Optional<I64>:$count,
                       Optional<I64>:$apart, OptionalAttr<StrAttr>:$along);
  let results = (outs Tile_View:$result);
  let assemblyFormat = [{
    $buffer `[` $rows `,` $cols `]` (`stride` $stride^)?
    (`stack` $count^ `apart` $apart)? (`along` $along^)? attr-dict `:` qualified(type($buffer)) `,` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_PipeOp : Tile_Op<"pipe", [MemoryEffects<[MemAlloc]>]> {
  let summary = "makes a pipe, all of whose stages are free";
  let description = [{
    Example: `%p = tile.pipe : !tile.pipe<4 of !tile.block<128x64xbf16>>`.
  }];
  let results = (outs Tile_Pipe:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Tile_RolesOp : Tile_Op<"roles", [HasParent<"FuncOp">, NoTerminator,
                                     SingleBlock]> {
  let summary = "the producer and the consumers, side by side";
  let description = [{
    The second region runs once for each consumer of the schedule, which gets
    its number; all see the same pipes. Where the schedule has consumers copy
    (`async`, `registers`), the producer is empty, and each consumer acquires,
    fetches and commits every stage: the same blocks, of which each copies its
    share.

    Example:
    ```mlir
    tile.roles producer {
      %a = tile.acquire %p : !tile.pipe<4 of !tile.block<64x64xbf16>>
        -> !tile.block<64x64xbf16>
      tile.fetch %v[%row, %col] to %a : !tile.view<bf16>, !tile.block<64x64xbf16>
      tile.commit %p : !tile.pipe<4 of !tile.block<64x64xbf16>>
    } consumers {
    ^bb0(%number: i32):
      %b = tile.wait %p : !tile.pipe<4 of !tile.block<64x64xbf16>>
        -> !tile.block<64x64xbf16>
      tile.release %p : !tile.pipe<4 of !tile.block<64x64xbf16>>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumers);
  let assemblyFormat = "`producer` $producer `consumers` $consumers attr-dict";
  let hasVerifier = 1;
}

//===- pipes ---------------------------------------------------------------===//

class Tile_StageOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([MemoryEffects<[MemRead, MemWrite]>],
                                    traits)> {
  let arguments = (ins Tile_Pipe:$pipe);
  let hasVerifier = 1;
}

class Tile_BlocksOp<string mnemonic> : Tile_StageOp<mnemonic> {
  let results = (outs Variadic<Tile_Block>:$blocks);
  let assemblyFormat = [{
    $pipe attr-dict `:` qualified(type($pipe)) `->` qualified(type($blocks))
  }];
}

def Tile_AcquireOp : Tile_BlocksOp<"acquire"> {
  let summary = "the next stage, once all consumers have released it";
  let description = [{
    In the producer. Its blocks hold nothing. Where consumers copy, it does not
    wait: the stage must have been released by all of them before the last
    `tile.wait`. Example: see `tile.roles`.
  }];
}

def Tile_EarlyOp : Tile_Op<"early", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a stage that has never been filled";
  let description = [{
    In the producer, before it acquires any: the stage that it will acquire after
    `number` others. What is fetched to its blocks is not fetched again once it is
    acquired. Example: `%b = tile.early %p stage %i : !tile.pipe<4 of
    !tile.block<64x64xbf16>> -> !tile.block<64x64xbf16>`.
  }];
  let arguments = (ins Tile_Pipe:$pipe, I32:$number);
  let results = (outs Variadic<Tile_Block>:$blocks);
  let assemblyFormat = [{
    $pipe `stage` $number attr-dict `:` qualified(type($pipe)) `->`
    qualified(type($blocks))
  }];
  let hasVerifier = 1;
}

def Tile_ReadyOp : Tile_Op<"ready", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for what precedes the launch";
  let description = [{
    In the producer, where the launch may begin before what precedes it has ended:
    until then only tensors may be read that the caller calls steady, whose slot
    `name:steady` is not 0. Without it nothing runs before. Example: `tile.ready`.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_StageOp<"commit"> {
  let summary = "says that every block of the acquired stage is being fetched";
  let description = [{
    Each block must have been fetched once since the stage was acquired.
    `bytes` says how many its fetches copy, where that depends on the launch;
    otherwise they are those of the blocks. Example: see `tile.roles`;
    `tile.commit %p bytes %n : ...`.
  }];
  let arguments = (ins Tile_Pipe:$pipe, Optional<I32>:$bytes);
  let assemblyFormat = [{
    $pipe (`bytes` $bytes^)? attr-dict `:` qualified(type($pipe))
  }];
}

def Tile_WaitOp : Tile_BlocksOp<"wait"> {
  let summary = "the next stage, once its blocks have arrived";
  let description = [{
    In a consumer. Where consumers copy, they all meet here, and each must have
    committed the stage and `ahead` stages after it, which need not have
    arrived. Example: see `tile.roles`; `tile.wait %p ahead 1 : ...`.
  }];
  let arguments = (ins Tile_Pipe:$pipe, OptionalAttr<I64Attr>:$ahead);
  let assemblyFormat = [{
    $pipe (`ahead` $ahead^)? attr-dict `:` qualified(type($pipe)) `->`
    qualified(type($blocks))
  }];
}

def Tile_ReleaseOp : Tile_StageOp<"release"> {
  let summary = "gives back the stage that this consumer has had for longest";
  let description = [{
    Nothing may read its blocks any more: products of them have been settled or
    awaited. Example: see `tile.roles`.
  }];
  let assemblyFormat = "$pipe attr-dict `:` qualified(type($pipe))";
}

def Tile_FetchOp : Tile_Op<"fetch", [MemoryEffects<[MemRead, MemWrite]>,
                                     AttrSizedOperandSegments]> {
  let summary = "begins to copy a block of a view";
  let description = [{
    Its first element is at (`row`, `col`); elements beyond the extents arrive
    as zero, `negative` as -0: beside +0 the product is then -0, which no sum
    can tell from an element that is skipped.

    With `boxes` only so many boxes of `rows` rows are copied, from the first row
    on. The block holds anything in the rows after those.

    `once` says that no other program of the launch takes these elements, so that
    caches need not keep them. `unless` says that the same was fetched through
    `tile.early`: nothing is copied then. `matrix` is that of a stack.

    Example:
    ```mlir
    tile.fetch %v[%row, %col] to %a : !tile.view<bf16>, !tile.block<64x64xbf16>
    tile.fetch %v[%row, %col] to %a boxes %n of %rows
      : !tile.view<bf16>, !tile.block<64x64xbf16>
    ```
  }];
  let arguments = (ins Tile_View:$view, I32:$row, I32:$col, Tile_Block:$block,
                       Optional<I32>:$boxes, Optional<I32>:$boxRows,
                       Optional<I1>:$once, Optional<I1>:$unless,
                       Optional<I32>:$matrix, UnitAttr:$negative);
  let assemblyFormat = [{
    $view `[` $row `,` $col `]` (`matrix` $matrix^)? `to` $block
    (`boxes` $boxes^ `of` $boxRows)? (`once` $once^)? (`unless` $unless^)?
    (`negative` $negative^)? attr-dict `:`
    qualified(type($view)) `,` qualified(type($block))
  }];
  let hasVerifier = 1;
}

def Tile_PrefetchOp : Tile_Op<"prefetch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "asks for elements of a view to come to the device's cache";
  let description = [{
    Of `rows` rows from `row` on the `cols` columns from `col` on, as far as they
    exist. No value depends on it: all multiprocessors share that cache, and what is
    written after it was asked for is written there. In the producer of a schedule
    whose copies are bulk.
    Example: `tile.prefetch %v[%row, %col] rows %n cols 512 : !tile.view<bf16>`.
  }];
  let arguments = (ins Tile_View:$view, I32:$row, I32:$col, I32:$rows,
                       I64Attr:$cols);
  let assemblyFormat = [{
    $view `[` $row `,` $col `]` `rows` $rows `cols` $cols attr-dict `:`
    qualified(type($view))
  }];
  let hasVerifier = 1;
}

def Tile_PackOp : Tile_Op<"pack", [MemoryEffects<[MemRead]>,
                                   AttrSizedOperandSegments]> {
  let summary = "copies a block of a view for the program alone";
  let description = [{
    Its first element is at (`row`, `col`). Rows beyond the extents hold zeros.
    Columns beyond them are not there: products of the block end before them.
    The block may hold the elements in a wider format. `matrix` is that of a
    stack. With `rows` those from `end` on are not copied, and hold anything.

    Example:
    ```mlir
    %a = tile.pack %v[%row, %col] rows %end
      : !tile.view<f32> -> !tile.block<96x64xf32>
    ```
  }];
  let arguments = (ins Tile_View:$view, I32:$row, I32:$col,
                       Optional<I32>:$matrix, Optional<I32>:$end);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = [{
    $view `[` $row `,` $col `]` (`matrix` $matrix^)? (`rows` $end^)? attr-dict `:` qualified(type($view)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===- products ------------------------------------------------------------===//

def Tile_BeginOp : Tile_Op<"begin", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "sums that have taken nothing";
  let description = [{
    `start` says what the first product meets: `identity`, +0, or `first`,
    nothing, so that it is the sum, rounded. Example:
    `%s = tile.begin "identity" : !tile.pending<96x64xf32>`.
  }];
  let arguments = (ins StrAttr:$start);
  let results = (outs Tile_Pending:$result);
  let assemblyFormat = "$start attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_ChainOp : Tile_Op<"chain", [MemoryEffects<[MemRead, MemWrite]>,
                                     SingleBlock,
                                     AllTypesMatch<["sums", "result"]>]> {
  let summary = "takes the elements of rows of two packed blocks into sums";
  let description = [{
    Element (i, j) takes the elements of row i of `a` and row j of `b` into its
    sum, one pair after the other in ascending order, by the step in the region:
    of the two elements and the sum the next sum.

    Example:
    ```mlir
    %t = tile.chain %a, %b on %s
      : !tile.block<96x64xf32>, !tile.block<32x64xf32>
      -> !tile.pending<96x32xf32> {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %n = kernel.fma %x, %y, %sum : f32
      tile.yield %n : f32
    }
    ```
  }];
  let arguments = (ins Tile_Block:$a, Tile_Block:$b, Tile_Pending:$sums);
  let results = (outs Tile_Pending:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $a `,` $b `on` $sums `:` qualified(type($a)) `,` qualified(type($b)) `->`
    qualified(type($result)) $body attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_RowsOp : Tile_Op<"rows", [Pure]> {
  let summary = "some rows of a block";
  let description = [{
    Those of part `number`, where the block is cut into parts of the result's
    height. Example:
    `%b = tile.rows %a part %c : !tile.block<128x64xbf16> -> !tile.block<64x64xbf16>`.
  }];
  let arguments = (ins Tile_Block:$block, I32:$number);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = [{
    $block `part` $number attr-dict `:` qualified(type($block)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_StartOp : Tile_Op<"start", [Pure]> {
  let summary = "sums to which nothing has been added: +0";
  let description = "Example: `%s = tile.start : !tile.pending<64x256xf32>`.";
  let results = (outs Tile_Pending:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Tile_DotOp : Tile_Op<"dot", [MemoryEffects<[MemRead]>,
                                 AttrSizedOperandSegments]> {
  let summary = "begins to add products of rows of two blocks";
  let description = [{
    Element (i, j) takes the products of row i of `a` and row j of `b` into its
    sum, as many at a time as the atom has, in ascending order; without `sums`
    from +0. Products that follow each other on the same sums are executed in
    the order of the program. `first` says how many columns there are: steps of
    which no column is there are left out. The atom may be a primitive of one
    product at a time, as `dot.fma.f32`; elements are widened to its format.

    Example:
    ```mlir
    %s = tile.dot %a, %b atom "dot.nv(16,25)"
      : !tile.block<64x64xbf16>, !tile.block<256x64xbf16>
      -> !tile.pending<64x256xf32>
    %t = tile.dot %a, %b on %s atom "dot.nv(16,25)"
      : !tile.block<64x64xbf16>, !tile.block<256x64xbf16>
      -> !tile.pending<64x256xf32> from !tile.pending<64x256xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$a, Tile_Block:$b,
                       Optional<Tile_Pending>:$sums, Optional<I32>:$count,
                       StrAttr:$atom);
  let results = (outs Tile_Pending:$result);
  let assemblyFormat = [{
    $a `,` $b (`on` $sums^)? (`first` $count^)? `atom` $atom attr-dict `:` qualified(type($a)) `,`
    qualified(type($b)) `->` qualified(type($result))
    (`from` qualified(type($sums))^)?
  }];
  let hasVerifier = 1;
}

def Tile_SettleOp : Tile_Op<"settle", [MemoryEffects<[MemRead, MemWrite]>,
                                       AllTypesMatch<["sums", "result"]>]> {
  let summary = "waits until all products but the last few have read their blocks";
  let description = [{
    Example: `%t = tile.settle %s behind 1 : !tile.pending<64x256xf32>`.
  }];
  let arguments = (ins Tile_Pending:$sums, I64Attr:$behind);
  let results = (outs Tile_Pending:$result);
  let assemblyFormat = [{
    $sums `behind` $behind attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_AwaitOp : Tile_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the sums, once all products are in them";
  let description = [{
    Where `exists` does not hold, what was multiplied was not there: every
    element is the canonical NaN instead. Example: `%v = tile.await %s : !tile.pending<64x256xf32> ->
    !tile.values<64x256xf32>`.
  }];
  let arguments = (ins Tile_Pending:$sums, Optional<I1>:$exists);
  let results = (outs Tile_Values:$result);
  let assemblyFormat = [{
    $sums (`where` $exists^)? attr-dict `:` qualified(type($sums)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===- results -------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "elements of a view as values of a consumer";
  let description = [{
    The first is at (`row`, `col`); those beyond the extents are zero. The view
    is of an input, so that a target may load an element at any time before it
    is used.

    Example:
    ```mlir
    %r = tile.load %v[%row, %col]
      : !tile.view<bf16> -> !tile.values<64x256xbf16>
    ```
  }];
  let arguments = (ins Tile_View:$view, I32:$row, I32:$col);
  let results = (outs Tile_Values:$result);
  let assemblyFormat = [{
    $view `[` $row `,` $col `]` attr-dict `:` qualified(type($view)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [Pure, SingleBlock,
                                 SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "arithmetic on every element of values of one shape";
  let description = [{
    The region has the elements as arguments and yields that of the result.

    Example:
    ```mlir
    %y = tile.map %v : !tile.values<64x256xf32> -> !tile.values<64x256xbf16> {
    ^bb0(%e: f32):
      %n = kernel.narrow %e : f32 to bf16
      tile.yield %n : bf16
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Values>:$values);
  let results = (outs Tile_Values:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $values `:` qualified(type($values)) `->` qualified(type($result)) $body
    attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_HoldOp : Tile_Op<"hold", [MemoryEffects<[MemRead, MemWrite]>,
                                   AllTypesMatch<["values", "result"]>]> {
  let summary = "keeps values while other sums are computed";
  let description = [{
    They are computed here. Nothing may use them once others have taken their
    slot, but for what these others are made of. Example:
    `%h = tile.hold %v slot 0 : !tile.values<64x128xf32>`.
  }];
  let arguments = (ins Tile_Values:$values, I64Attr:$slot);
  let results = (outs Tile_Values:$result);
  let assemblyFormat = [{
    $values `slot` $slot attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_MeetOp : Tile_Op<"meet", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what every unit of a program has computed, each unit its columns";
  let description = [{
    In the consumers of a schedule with `split`. Every unit comes here with its
    values, and each gets of all values those columns that are its own: of n
    columns and s units, unit u has n / s from u n / s on. Results are in the
    order of the units, and of one unit in that of the operands. Rows from `rows`
    on hold anything.

    Example:
    ```mlir
    %p:2 = tile.meet %v rows %n : !tile.values<64x32xf32>
      -> !tile.values<64x16xf32>, !tile.values<64x16xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Values>:$values, I32:$rows);
  let results = (outs Variadic<Tile_Values>:$parts);
  let assemblyFormat = [{
    $values `rows` $rows attr-dict `:` qualified(type($values)) `->`
    qualified(type($parts))
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Terminator, Pure,
                                     ParentOneOf<["MapOp", "ChainOp"]>]> {
  let summary = "the element of a result";
  let description = "Or the next sum. Example: see `tile.map`.";
  let arguments = (ins Optional<AnyFloat>:$value);
  let builders = [OpBuilder<(ins), "">];
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
}

def Tile_PutOp : Tile_Op<"put", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes values to a view";
  let description = [{
    The first element goes to (`row`, `col`); those beyond the extents are not
    written, nor are those of rows from `end` on.

    Example:
    ```mlir
    tile.put %y to %v[%row, %col] rows %end
      : !tile.values<64x256xbf16>, !tile.view<bf16>
    ```
  }];
  let arguments = (ins Tile_Values:$values, Tile_View:$view, I32:$row, I32:$col,
                       Optional<I32>:$end);
  let assemblyFormat = [{
    $values `to` $view `[` $row `,` $col `]` (`rows` $end^)? attr-dict `:`
    qualified(type($values)) `,` qualified(type($view))
  }];
  let hasVerifier = 1;
}

#endif // BITPACT_DIALECTS_KERNEL_TILEOPS_TD
