// Probes.cpp - what a tree does not tell: roundings, starts, fractions,
// products Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Probes.h"

namespace bitpact::reveal {

void probe(Questions &questions, const RevealedTree &tree,
           std::vector<Finding> &findings) {}

RecogniseOptions textOptions(const Signature &signature,
                             const std::vector<Finding> &findings) {
  RecogniseOptions options;
  options.kind = signature.kind;
  if (signature.kind == algebra::ReductionKind::ExpSum)
    options.kind = algebra::ReductionKind::Sum;
  return options;
}

} // namespace bitpact::reveal
