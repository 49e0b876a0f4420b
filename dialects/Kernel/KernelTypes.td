//===- KernelTypes.td - buffers, scratch and the schedule attribute -*- tablegen -*-===//
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef BITPACT_DIALECTS_KERNEL_TYPES_TD
#define BITPACT_DIALECTS_KERNEL_TYPES_TD

include "dialects/Kernel/KernelDialect.td"

// MLIR reads the symbol @"" and has no way to print it.
def Kernel_Name : ConfinedAttr<SymbolNameAttr, [
    AttrConstraint<CPred<"!::llvm::cast<::mlir::StringAttr>($_self).empty()">,
                   "that is not empty">]>;

class Kernel_Type<string name, string kind> : TypeDef<Kernel_Dialect, name> {
  let mnemonic = kind;
}

def Kernel_Buffer : Kernel_Type<"Buffer", "buffer"> {
  let summary = "a tensor of the caller in device memory";
  let description = [{
    Addressed by element offsets from its first element. Example:
    `!kernel.buffer<bf16>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Kernel_Scratch : Kernel_Type<"Scratch", "scratch"> {
  let summary = "private storage of a program for partials";
  let description = [{
    `size` cells, each holding one value of `cellType` (a lane vector before
    distribution, a scalar after). Example:
    `!kernel.scratch<16 x vector<8xf32>>`.
  }];
  let parameters = (ins "int64_t":$size, "::mlir::Type":$cellType);
  let assemblyFormat = "`<` $size `x` $cellType `>`";
}

def Kernel_Schedule : AttrDef<Kernel_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how the digits of a contract meet hardware; never moves bits";
  let description = [{
    * `kind`: `row_per_group` (the lanes share one row) or `row_per_lane` (each
      lane has a row of its own);
    * `lanes`: lanes of a program, a power of two;
    * `subgroup`: lanes that can exchange values without storage (a warp);
    * `programs_per_group`: programs in one CTA (1 where `lanes` exceeds
      `subgroup`, since such programs synchronise);
    * `vector_bytes`: alignment that wide memory accesses may count on, 1 for
      wide accesses that need none, 0 for element-wise access;
    * `unroll`: how many elements a lane may hold in registers at once;
    * `adjacent`: lanes are elements of one register, so that neighbours had
      better take neighbouring elements wherever the order is free;
    * `rows_per_lane`: neighbouring rows that a lane of `row_per_lane` has;
    * `split`: the outermost merge is cut over programs, each with about that
      many elements at least; a second kernel merges their partials. 0 if not;
    * `ahead`: steps of a running state by which loads precede the arithmetic, 0
      (as if not written) or 1.

    Example: `#kernel.schedule<"row_per_group", lanes = 32, subgroup = 32,
    programs_per_group = 4, vector_bytes = 16, unroll = 128>`.
  }];
  let parameters = (ins StringRefParameter<>:$kind, "int64_t":$lanes,
                        "int64_t":$subgroup, "int64_t":$programsPerGroup,
                        "int64_t":$vectorBytes, "int64_t":$unroll,
                        OptionalParameter<"bool">:$adjacent,
                        DefaultValuedParameter<"int64_t", "1">:$rowsPerLane,
                        DefaultValuedParameter<"int64_t", "0">:$split,
                        DefaultValuedParameter<"int64_t", "0">:$ahead);
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$kind, "int64_t":$lanes,
                     "int64_t":$subgroup, "int64_t":$programsPerGroup,
                     "int64_t":$vectorBytes, "int64_t":$unroll), [{
      return $_get($_ctxt, kind, lanes, subgroup, programsPerGroup, vectorBytes,
                   unroll, /*adjacent=*/false, /*rowsPerLane=*/int64_t(1),
                   /*split=*/int64_t(0), /*ahead=*/int64_t(0));
    }]>,
    AttrBuilder<(ins "::llvm::StringRef":$kind, "int64_t":$lanes,
                     "int64_t":$subgroup, "int64_t":$programsPerGroup,
                     "int64_t":$vectorBytes, "int64_t":$unroll,
                     "bool":$adjacent, "int64_t":$rowsPerLane,
                     "int64_t":$split), [{
      return $_get($_ctxt, kind, lanes, subgroup, programsPerGroup, vectorBytes,
                   unroll, adjacent, rowsPerLane, split, /*ahead=*/int64_t(0));
    }]>
  ];
  let assemblyFormat = [{
    `<` $kind `,` `lanes` `=` $lanes `,` `subgroup` `=` $subgroup `,`
    `programs_per_group` `=` $programsPerGroup `,` `vector_bytes` `=`
    $vectorBytes `,` `unroll` `=` $unroll (`,` `adjacent` `=` $adjacent^)?
    (`rows_per_lane` `=` $rowsPerLane^)? (`split` `=` $split^)?
    (`ahead` `=` $ahead^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Rows that one program works on.
    int64_t rowsPerProgram() const {
      return getKind() == "row_per_lane" ? getLanes() * getRowsPerLane() : 1;
    }
    /// Neighbouring rows of a lane that move in one access, of elements with
    /// so many bytes.
    int64_t rowPack(int64_t bytes) const;
    /// The same schedule with fewer or more registers.
    ScheduleAttr withUnroll(int64_t elements) const;
    ScheduleAttr withAhead(int64_t steps) const;
    /// One line for manifests and reports.
    std::string text() const;
  }];
}

def Kernel_Split : AttrDef<Kernel_Dialect, "Split"> {
  let mnemonic = "split";
  let summary = "how many programs share each group of rows";
  let description = [{
    ceil((`dim` - `less`) / `length`) of them, or `length` where `dim` is empty.

    Example: `#kernel.split<"tokens", length = 256, less = 0>`.
  }];
  let parameters = (ins StringRefParameter<>:$dim, "int64_t":$length,
                        "int64_t":$less);
  let assemblyFormat = [{
    `<` $dim `,` `length` `=` $length `,` `less` `=` $less `>`
  }];
  let genVerifyDecl = 1;
}

#endif // BITPACT_DIALECTS_KERNEL_TYPES_TD
