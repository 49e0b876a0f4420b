// Explanation.h - in words, in which other order a library has added
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ATTEST_EXPLANATION_H
#define BITPACT_EVIDENCE_ATTEST_EXPLANATION_H

#include "tools/evidence/Progress.h"
#include "tools/evidence/Shape.h"

namespace bitpact::evidence::attest {

/// What reveal finds at one shape.
struct Explanation {
  /// The tree is the declared one.
  bool equal = false;
  /// "the contract adds step:* k:16 (k fused(dot.nv(16,25)), step chain), the
  /// library adds 2 parts, cut at in=2048: ..."; or why nothing was found.
  std::string text;
};

Explanation explain(const Package &package, const ContractSpec &contract,
                    const Device &device, const VariantSpec &variant,
                    const Dims &dims, const Progress &progress);

} // namespace bitpact::evidence::attest

#endif // BITPACT_EVIDENCE_ATTEST_EXPLANATION_H
