// Segments.h - in which block between offsets a position lies
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_INTERPRETER_SEGMENTS_H
#define BITPACT_COMPILER_INTERPRETER_SEGMENTS_H

#include "compiler/Interpreter/Machine.h"

namespace bitpact::interpreter {

/// `pact.segment`: the block of a position, -1 where the offsets, which are
/// numbers, do not ascend from 0 to the extent.
int64_t segmentOf(const Buffer &offsets, int64_t extent, int64_t position);

/// The bits of the canonical NaN.
uint64_t notANumber(Scalar format);

} // namespace bitpact::interpreter

#endif
