// DotAtom.h - dot steps of matrix units, as numerics fix them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_DOTATOM_H
#define BITPACT_REFERENCE_DOTATOM_H

#include "contracts/algebra/Format.h"
#include "contracts/algebra/MergeOrder.h"

namespace bitpact::reference {

/// One step of `dot.nv(L,F)`: `count` products of values of `element` (bf16 or
/// f16) and an f32 accumulator. Products are exact and unnormalised; products
/// and accumulator are truncated toward zero to F fraction bits relative to the
/// largest exponent among them, zeros not counting; their exact sum is
/// truncated toward zero to f32. A zero result is +0.
double dotNvStep(const algebra::Atom &atom, algebra::Format element,
                 const double *a, const double *b, int count,
                 double accumulator);

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_DOTATOM_H
