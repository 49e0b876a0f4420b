// Fragment.h - a revealed tree as part of a contract, beside the declared one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_FRAGMENT_H
#define BITPACT_EVIDENCE_REVEAL_FRAGMENT_H

#include "tools/evidence/reveal/Reveal.h"

namespace bitpact::reveal {

/// What a recognised tree is as a node: {"nodes": {"sum": {…}}}, a JSON merge
/// patch for a contract that has such a node.
nlohmann::json fragmentOf(const nlohmann::json &contract,
                          const std::string &node, const Report &report);

/// An atom as canonical JSON defines it, for terms of two such elements.
nlohmann::json definitionOf(const algebra::Atom &atom, algebra::Format element);

struct Comparison {
  bool equal = false;
  /// Where they part, in words: what the binary adds and the contract does not.
  std::string difference;
  /// ΔC from the declared contract to the revealed one, as diff prints it;
  /// empty where the trees are equal or the revealed one has no text.
  nlohmann::json delta;
};

/// Compares on trees, at the extent at which it was revealed. `contract` is
/// canonical JSON; `offsets` cut the node's partition, if anything does.
Comparison compareDeclared(const nlohmann::json &contract,
                           const std::string &node, const Report &report,
                           const std::vector<int64_t> &offsets);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_FRAGMENT_H
