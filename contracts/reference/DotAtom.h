// DotAtom.h - dot steps of matrix units, as numerics fix them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_REFERENCE_DOTATOM_H
#define BITPACT_REFERENCE_DOTATOM_H

#include "contracts/algebra/Format.h"
#include "contracts/algebra/MergeOrder.h"

namespace bitpact::reference {

/// One step of an atom: `count` products of values of `element` (bf16 or f16)
/// and an f32 accumulator. Products are exact and unnormalised: the exponent of
/// one is the sum of its factors' exponents, where a subnormal has that of the
/// smallest normal. E is the largest exponent among products that are not zero.
///
/// `dot.nv(L,F)`: E counts the accumulator too, and is -108-F at least, the
/// exponent that zeros have. Products and accumulator are truncated toward zero
/// to F fraction bits relative to E; their exact sum is truncated toward zero to
/// f32. A zero result is +0, also of a sum that was not zero. Source: measured
/// on an H200 for F = 25 (tests/atoms, tests/data/hopper-mma); published for
/// F = 24 (MMA-Sim, below, T-FDPA).
///
/// `dot.cdna3`: a product of 2^128 or more is infinite; the others are truncated
/// toward zero to units of 2^(E-24) and added exactly. With e = max(E, exponent
/// of the accumulator) that sum is rounded down to units of 2^(e-32), the
/// accumulator down to 2^(e-24), and their sum, normalised, down to 31 fraction
/// bits and then to nearest even in f32. Source: the published model of Xie,
/// Wang, Yang and Yang, MMA-Sim (arXiv 2511.10909, TR-FDPA); nobody here has run
/// it on that hardware.
double dotStep(const algebra::Atom &atom, algebra::Format element,
               const double *a, const double *b, int count, double accumulator);

} // namespace bitpact::reference

#endif // BITPACT_REFERENCE_DOTATOM_H
