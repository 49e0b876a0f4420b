// Agreement.h - whether a kernel's terms are the contract's, and no more
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_AGREEMENT_H
#define BITPACT_COMPILER_INTERPRETER_AGREEMENT_H

#include "compiler/Interpreter/TreeCase.h"

namespace bitpact::interpreter {

class CasePool;

/// As interpretTrees, but says only yes or no. Primitives are compared as
/// wholes, and positions may be left out: a yes is a proof, a no need not mean
/// that anything is wrong. With a pool the launch's symbols and declared terms
/// may be those of an earlier call.
bool treesAgree(pact::ContractOp contract, pact::OperatorOp op,
                llvm::ArrayRef<kernel::FuncOp> steps, Launch &launch,
                CasePool *pool = nullptr);

} // namespace bitpact::interpreter

#endif
