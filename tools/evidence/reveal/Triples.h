// Triples.h - the tree from which two of three leaves meet first
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_TRIPLES_H
#define BITPACT_EVIDENCE_REVEAL_TRIPLES_H

#include "tools/evidence/reveal/Questions.h"
#include "tools/evidence/reveal/RevealedTree.h"

namespace bitpact::reveal {

/// Do j and k meet before either meets i?
struct Triple {
  int64_t i, j, k;
};

/// What answers it, for boxes whose results cannot be counted.
class TripleOracle {
public:
  virtual ~TripleOracle() = default;
  virtual std::vector<bool> ask(const std::vector<Triple> &triples) = 0;
};

/// The tree of the leaves at `positions` (all others being zero). Of every
/// three leaves exactly one pair meets first, so any two leaves divide all the
/// others in three, and each part is a tree of its own: about 2 n log n triples
/// in 2 log n batches. Throws Undetermined if three leaves meet at once or the
/// answers fit no tree.
RevealedTree fromTriples(TripleOracle &oracle,
                         const std::vector<int64_t> &positions);

/// Answers to random triples against a tree that was found: throws
/// Undetermined at the first that does not fit.
void confirmTriples(TripleOracle &oracle, const RevealedTree &tree,
                    const std::vector<int64_t> &positions, int64_t count);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_TRIPLES_H
