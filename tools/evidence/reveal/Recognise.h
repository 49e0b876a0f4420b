// Recognise.h - digits and merges that build a tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_RECOGNISE_H
#define BITPACT_EVIDENCE_REVEAL_RECOGNISE_H

#include "contracts/algebra/TreeBuilder.h"
#include "tools/evidence/reveal/RevealedTree.h"

namespace bitpact::reveal {

struct Recognised {
  /// A reduction whose declared tree is the revealed one at this extent.
  std::optional<algebra::Reduction> reduction;
  /// Why there is none.
  std::string reason;
};

struct RecogniseOptions {
  algebra::ReductionKind kind = algebra::ReductionKind::Sum;
  algebra::Start start = algebra::Start::Identity;
  algebra::Format accumulator = algebra::Format::F32;
  /// Fraction bits of the atom, where steps take several terms; -1 where they
  /// are not known, and then there is no text.
  int64_t fraction = -1;
  /// A step rounds to nearest even, not toward zero.
  bool nearest = false;
  /// Significant bits that outlive each level of the way from position 0 (see
  /// Way.h), -1 where it is not known; or nothing.
  std::vector<int> levelBits{};
};

/// The text with the fewest digits that was found, checked by building its
/// tree. Trees that no partition writes are said to be such.
Recognised recognise(const RevealedTree &tree, const RecogniseOptions &options);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_RECOGNISE_H
