// Replay.h - random inputs through foreign code and through what was revealed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_REPLAY_H
#define BITPACT_EVIDENCE_REVEAL_REPLAY_H

#include "tools/evidence/reveal/FunctionBox.h"
#include "tools/evidence/reveal/Reveal.h"

namespace bitpact::reveal {

/// What a tree leaves open, tried on random inputs.
struct Arithmetic {
  algebra::Format accumulator = algebra::Format::F32;
  /// Of a dot: the product is not rounded before it is added.
  bool exactProduct = false;
  /// Of a dot: two elements that meet are two sums of one element each, so that
  /// both products are rounded.
  bool rounded = false;
  /// Of a dot whose steps take several terms: their atom.
  std::string atom{};

  std::string text(algebra::ReductionKind kind) const;
};

struct Replay {
  /// Inputs, and how many of them gave the same bytes.
  int64_t inputs = 0, equal = 0;
  Arithmetic arithmetic;
  /// What was revealed as a contract in canonical JSON, whose bytes are these
  /// too, through the reference evaluator; null where there is none.
  nlohmann::json contract;

  bool holds() const { return inputs > 0 && equal == inputs; }
  std::string text() const;
};

/// Tries each arithmetic that the tree allows; the one with the most inputs on
/// which bytes are equal is in the result. Nothing for a norm, whose formula is
/// known only to within a constant, and where not every position has a leaf.
std::optional<Replay> replay(FunctionBox &box, const Report &report,
                             int64_t inputs);

/// The contract of a sum or a maximum of x, or a sum of x * w, over `hidden`;
/// its output is y. The operator `sum` is that of the library.
nlohmann::json contractOf(const Signature &signature,
                          const algebra::Reduction &reduction,
                          const Arithmetic &arithmetic);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_REPLAY_H
