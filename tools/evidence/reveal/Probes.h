// Probes.h - what a tree does not tell: roundings, starts, fractions, products
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_PROBES_H
#define BITPACT_EVIDENCE_REVEAL_PROBES_H

#include "tools/evidence/reveal/Finding.h"
#include "tools/evidence/reveal/Questions.h"
#include "tools/evidence/reveal/Recognise.h"

namespace bitpact::reveal {

/// Asks about one thing after the other, at places that the tree tells. What a
/// box cannot show is a finding too. Fills in what a text needs to know.
std::vector<Finding> probe(Questions &questions, const RevealedTree &tree,
                           RecogniseOptions &text);

/// Of several terms that meet in one step, the bits below the largest that the
/// step keeps, and nothing else; -1 where there is no such step or it does not
/// show.
int64_t probeFraction(Questions &questions, const RevealedTree &tree);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_PROBES_H
