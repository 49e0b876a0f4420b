//===- KernelOps.td - operations of the kernel dialect -*- tablegen -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_OPS_TD
#define BITPACT_DIALECTS_KERNEL_OPS_TD

include "dialects/Kernel/KernelTypes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

// A lane value (vector<L x T>), or a scalar once lanes are distributed.
def Kernel_Value : AnyTypeOf<[AnyFloat, AnySignlessInteger,
                              VectorOfRankAndType<[1], [AnyType]>]>;
def Kernel_Float : AnyTypeOf<[AnyFloat, VectorOfRankAndType<[1], [AnyFloat]>]>;

//===- structure -----------------------------------------------------------===//

def Kernel_FuncOp : Kernel_Op<"func", [IsolatedFromAbove, Symbol,
                                       SingleBlock]> {
  let summary = "the body of one program of a launch";
  let description = [{
    Arguments follow the calling convention of packages: for each tensor its
    buffer and the strides of all axes but the last, then every dim (i64), then
    the word that `kernel.fault` sets, if any does (`@fault`).
    `slots` names them in order, `rows` is the dim whose index the programs cut
    among themselves (empty if there is a single row).

    A launch may be a sequence of kernels, one after the other, which all take
    the same arguments. `split` says that several programs share the same rows;
    what they leave for the next kernel lies in the slot `workspace`, after the
    dims: a buffer with an element for every part and row, rows side by side.

    Example:
    ```mlir
    kernel.func @f(%x: !kernel.buffer<bf16>, %x.s0: i64, %y: !kernel.buffer<f32>,
                   %tokens: i64, %hidden: i64)
        slots ["x", "x:0", "y", "tokens", "hidden"] rows "tokens"
        schedule <"row_per_lane", lanes = 8, subgroup = 8,
                  programs_per_group = 1, vector_bytes = 0, unroll = 16> {
      %p = kernel.program
      kernel.return
    }
    ```
  }];
  let arguments = (ins Kernel_Name:$sym_name, StrArrayAttr:$slots,
                       StrAttr:$rows, Kernel_Schedule:$schedule,
                       OptionalAttr<StrAttr>:$contract,
                       OptionalAttr<DictionaryAttr>:$access,
                       OptionalAttr<Kernel_Split>:$split);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The argument of that slot name; null if there is none.
    ::mlir::BlockArgument slot(::llvm::StringRef name);
    /// The slot of the fault word.
    static constexpr ::llvm::StringLiteral kFaultSlot = "@fault";
  }];
}

def Kernel_ReturnOp : Kernel_Op<"return", [Terminator, HasParent<"FuncOp">]> {
  let summary = "ends a program";
  let description = "Example: `kernel.return`.";
  let assemblyFormat = "attr-dict";
}

def Kernel_ProgramOp : Kernel_Op<"program", [Pure]> {
  let summary = "which group of rows this program has";
  let description = "Example: `%p = kernel.program`.";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_PartOp : Kernel_Op<"part", [Pure]> {
  let summary = "which of the programs that share its rows this one is";
  let description = "Example: `%s = kernel.part`.";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_LaneOp : Kernel_Op<"lane", [Pure]> {
  let summary = "index of each lane in its program";
  let description = "Example: `%l = kernel.lane : vector<32xi64>`.";
  let results = (outs Kernel_Value:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===- memory --------------------------------------------------------------===//

def Kernel_LoadOp : Kernel_Op<"load", [AttrSizedOperandSegments,
                                       MemoryEffects<[MemRead]>]> {
  let summary = "each lane reads consecutive elements";
  let description = [{
    Lane l reads one element per result, the j-th at
    `offset + l·lane_stride + lane_offsets[l] + j`. `masks` holds nothing, one
    mask for all results, or one mask a result; what a lane masked off receives
    is unspecified, and nothing is read for it. `align` is what `buffer +
    offset + ...` of every lane is known to be a multiple of, in bytes.

    Example:
    ```mlir
    %v:2 = kernel.load %x[%o] lane_stride 2 align 4
        : !kernel.buffer<bf16>, vector<32xbf16>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$buffer, I64:$offset,
                       Optional<Kernel_Value>:$laneOffsets,
                       Variadic<Kernel_Value>:$masks, I64Attr:$laneStride,
                       I64Attr:$align);
  let results = (outs Variadic<Kernel_Value>:$values);
  let assemblyFormat = [{
    $buffer `[` $offset (`,` $laneOffsets^ `:` type($laneOffsets))? `]`
    (`mask` `(` $masks^ `:` type($masks) `)`)? `lane_stride` $laneStride
    `align` $align attr-dict `:` type($buffer) `,` type($values)
  }];
  let hasVerifier = 1;
}

def Kernel_ReadOp : Kernel_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "the program reads one integer, the same for all lanes";
  let description = [{
    What offsets are read with: control flow may depend on the result. Example:
    `%b = kernel.read %offsets[%i] : !kernel.buffer<i32>, i32`.
  }];
  let arguments = (ins Kernel_Buffer:$buffer, I64:$offset);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = [{
    $buffer `[` $offset `]` attr-dict `:` type($buffer) `,` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_StoreOp : Kernel_Op<"store", [AttrSizedOperandSegments,
                                         MemoryEffects<[MemWrite]>]> {
  let summary = "each lane writes consecutive elements";
  let description = [{
    Addresses and masks as in `kernel.load`; lanes masked off write nothing.

    Example:
    ```mlir
    kernel.store %v to %y[%o] mask (%first : vector<32xi1>) lane_stride 0
        align 4 : !kernel.buffer<f32>, vector<32xf32>
    ```
  }];
  let arguments = (ins Variadic<Kernel_Value>:$values, Kernel_Buffer:$buffer,
                       I64:$offset, Optional<Kernel_Value>:$laneOffsets,
                       Variadic<Kernel_Value>:$masks, I64Attr:$laneStride,
                       I64Attr:$align);
  let assemblyFormat = [{
    $values `to` $buffer `[` $offset
    (`,` $laneOffsets^ `:` type($laneOffsets))? `]`
    (`mask` `(` $masks^ `:` type($masks) `)`)? `lane_stride` $laneStride
    `align` $align attr-dict `:` type($buffer) `,` type($values)
  }];
  let hasVerifier = 1;
}

def Kernel_FaultOp : Kernel_Op<"fault", [MemoryEffects<[MemWrite]>]> {
  let summary = "says that a value was not what it must be";
  let description = [{
    Sets the word to 1 if the mask holds in any lane. The caller may have given
    no word (a null pointer); then nothing is written. Example:
    `kernel.fault %word mask (%m : vector<32xi1>) : !kernel.buffer<i32>`.
  }];
  let arguments = (ins Kernel_Buffer:$word, Kernel_Value:$mask);
  let assemblyFormat = [{
    $word `mask` `(` $mask `:` type($mask) `)` attr-dict `:` type($word)
  }];
  let hasVerifier = 1;
}

def Kernel_PrefetchOp : Kernel_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "says that an element will be needed soon";
  let description = [{
    Changes no value and may name an element that does not exist; a target may
    ignore it. The effect keeps it in its place. Example:
    `kernel.prefetch %x[%o] : !kernel.buffer<bf16>`.
  }];
  let arguments = (ins Kernel_Buffer:$buffer, I64:$offset);
  let assemblyFormat = "$buffer `[` $offset `]` attr-dict `:` type($buffer)";
}

def Kernel_ScratchOp : Kernel_Op<"scratch", [MemoryEffects<[MemAlloc]>]> {
  let summary = "private storage, uninitialised";
  let description = "Example: `%s = kernel.scratch : <16 x vector<8xf32>>`.";
  let results = (outs Kernel_Scratch:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Kernel_PeekOp : Kernel_Op<"peek", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a cell of scratch";
  let description = [{
    Example: `%v = kernel.peek %s[%i] : <16 x vector<8xf32>>, vector<8xf32>`.
  }];
  let arguments = (ins Kernel_Scratch:$scratch, I64:$index);
  let results = (outs Kernel_Value:$result);
  let assemblyFormat = [{
    $scratch `[` $index `]` attr-dict `:` type($scratch) `,` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_PokeOp : Kernel_Op<"poke", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a cell of scratch";
  let description = [{
    Example: `kernel.poke %v, %s[%i] : vector<8xf32>, <16 x vector<8xf32>>`.
  }];
  let arguments = (ins Kernel_Value:$value, Kernel_Scratch:$scratch, I64:$index);
  let assemblyFormat = [{
    $value `,` $scratch `[` $index `]` attr-dict `:` type($value) `,`
    type($scratch)
  }];
  let hasVerifier = 1;
}

//===- lanes ---------------------------------------------------------------===//

def Kernel_ExchangeOp : Kernel_Op<"exchange", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    SameOperandsAndResultType]> {
  let summary = "the value of the lane whose index differs in one bit";
  let description = [{
    Lane l receives the value of lane l xor `distance`; `distance` is a power of
    two below the subgroup, or below the lanes where the exchange is `far`: that
    one goes through storage and synchronises. Example:
    `%p = kernel.exchange %v distance 16 : vector<32xf32>`,
    `%q = kernel.exchange %v distance 64 far : vector<256xf32>`.
  }];
  let arguments = (ins Kernel_Value:$value, I64Attr:$distance, UnitAttr:$far);
  let results = (outs Kernel_Value:$result);
  let assemblyFormat = [{
    $value `distance` $distance (`far` $far^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_GatherOp : Kernel_Op<"gather", []> {
  let summary = "the values of the same lane of every subgroup";
  let description = [{
    Result j of lane l is the value of lane (l mod subgroup) + j·subgroup. It
    synchronises the lanes of the program, so it carries memory effects.
    Example: `%v:2 = kernel.gather %p subgroup 32
    : vector<64xf32> -> vector<64xf32>, vector<64xf32>`.
  }];
  let arguments = (ins Kernel_Value:$value, I64Attr:$subgroup);
  let results = (outs Variadic<Kernel_Value>:$values);
  let assemblyFormat = [{
    $value `subgroup` $subgroup attr-dict `:` type($value) `->` type($values)
  }];
  let hasVerifier = 1;
}

//===- arithmetic ----------------------------------------------------------===//

def Kernel_FmaOp : Kernel_Op<"fma", [Pure, SameOperandsAndResultType]> {
  let summary = "IEEE 754 fusedMultiplyAdd, round to nearest even";
  let description = "Example: `%r = kernel.fma %a, %b, %c : vector<32xf32>`.";
  let arguments = (ins Kernel_Float:$a, Kernel_Float:$b, Kernel_Float:$c);
  let results = (outs Kernel_Float:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}

def Kernel_SqrtOp : Kernel_Op<"sqrt", [Pure, SameOperandsAndResultType]> {
  let summary = "IEEE 754 squareRoot, round to nearest even";
  let description = "Example: `%r = kernel.sqrt %a : vector<32xf32>`.";
  let arguments = (ins Kernel_Float:$a);
  let results = (outs Kernel_Float:$result);
  let assemblyFormat = "$a attr-dict `:` type($result)";
}

def Kernel_NarrowOp : Kernel_Op<"narrow", [Pure]> {
  let summary = "one rounding to a narrower format, to nearest even";
  let description = [{
    Subnormals are kept, overflow gives infinity, every NaN becomes the
    canonical one of the format. A result of the operand's own format only makes
    NaN canonical, as every store needs. Example:
    `%r = kernel.narrow %a : vector<32xf32> to vector<32xbf16>`.
  }];
  let arguments = (ins Kernel_Float:$a);
  let results = (outs Kernel_Float:$result);
  let assemblyFormat = "$a attr-dict `:` type($a) `to` type($result)";
  let hasVerifier = 1;
}

#endif // BITPACT_DIALECTS_KERNEL_OPS_TD
