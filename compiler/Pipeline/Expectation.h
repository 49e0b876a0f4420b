// Expectation.h - which operations a contract lets its code contain
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_PIPELINE_EXPECTATION_H
#define BITPACT_COMPILER_PIPELINE_EXPECTATION_H

#include "codegen/Target/Lint.h"
#include "dialects/Pact/Pact.h"

namespace bitpact::pipeline {

/// Reads the contract, its operator and its primitives; never the kernel that
/// was made of them.
codegen::LintExpectation expectationOf(pact::ContractOp contract,
                                       pact::OperatorOp op);

} // namespace bitpact::pipeline

#endif
