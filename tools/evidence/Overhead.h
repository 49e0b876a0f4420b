// Overhead.h - what the runtime adds to a launch by the driver alone
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_OVERHEAD_H
#define BITPACT_EVIDENCE_OVERHEAD_H

#include "tools/evidence/Bench.h"
#include "tools/evidence/Shape.h"

namespace bitpact::evidence {

/// Times on the host from before a launch until it returns, medians over many
/// batches in which the two take turns, of the variant that a launch of one
/// row takes. On a cpu both contain the work itself. Adds to `report`.
void measureOverhead(const Package &package, const Device &device,
                     const ContractSpec &contract, const Dims &dims,
                     BenchReport &report);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_OVERHEAD_H
