// Assemble.h - assembly text to a relocatable object
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGET_ASSEMBLE_H
#define BITPACT_CODEGEN_TARGET_ASSEMBLE_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Target/TargetMachine.h"

namespace bitpact::codegen {

/// The object of a text that code generation for `machine` wrote, whose
/// assembly parser must be initialised. Much cheaper than generating code a
/// second time, and what lint reads is then what the object was made of.
mlir::FailureOr<llvm::SmallVector<char, 0>>
assemble(mlir::Location location, llvm::StringRef text,
         const llvm::TargetMachine &machine);

} // namespace bitpact::codegen

#endif
