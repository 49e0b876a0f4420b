// EasyQuotients.h - divisions that most launches need not make
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_EASYQUOTIENTS_H
#define BITPACT_CODEGEN_NVPTX_EASYQUOTIENTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace bitpact::codegen {

/// Unsigned divisions by what is not a constant, of indices of blocks, are made only
/// where the divisor is not one and the dividend not less than it. Of one row of
/// blocks neither remains: a launch that takes microseconds would wait for them
/// before its first copy.
void skipEasyQuotients(mlir::LLVM::LLVMFuncOp kernel);

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_EASYQUOTIENTS_H
