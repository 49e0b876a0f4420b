// GroupDivisions.h - divisions that do not wait for each other, together
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_NVPTX_GROUPDIVISIONS_H
#define BITPACT_CODEGEN_NVPTX_GROUPDIVISIONS_H

#include "mlir/Pass/Pass.h"

namespace bitpact::codegen {

/// `group-divisions`: in the LLVM dialect, divisions of f32 in a block of which
/// none needs the quotient of another become groups with one test each
/// (codegen/NVPTX/Quotients.h). Few that stand alone stay as they are.
std::unique_ptr<mlir::Pass> createGroupDivisionsPass();

} // namespace bitpact::codegen

#endif // BITPACT_CODEGEN_NVPTX_GROUPDIVISIONS_H
