// Reveal.h - the tree of a black box and what else its results tell
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_REVEAL_H
#define BITPACT_EVIDENCE_REVEAL_REVEAL_H

#include "tools/evidence/Progress.h"
#include "tools/evidence/reveal/BlackBox.h"
#include "tools/evidence/reveal/Finding.h"
#include "tools/evidence/reveal/Recognise.h"
#include "tools/evidence/reveal/RevealedTree.h"

#include <nlohmann/json.hpp>

namespace bitpact::reveal {

struct Options {
  /// Of more terms, the tree of a sample of the positions is found.
  int64_t mostLeaves = 8192;
  int64_t sampled = 768;
  /// Only the tree: no probes and no recognition.
  bool treeOnly = false;
  evidence::Progress progress;
};

struct Report {
  Signature signature;
  /// Empty if there is none; `reason` says why.
  RevealedTree tree;
  std::string reason;
  /// The positions of the tree's leaves, if they are not all.
  std::vector<int64_t> sample;
  /// How the tree was found, and how that was confirmed.
  std::string method;
  /// Answers of the probes, those that have none included.
  std::vector<Finding> findings;
  Recognised recognised;
  /// Bits that a step of several terms keeps; -1: not known.
  int64_t fraction = -1;
  int64_t rows = 0, batches = 0;

  bool determined() const { return !tree.empty(); }
};

/// Finds the tree, confirms it by questions that were not needed to find it,
/// then probes and recognises. What results cannot tell is in the report;
/// errors of the box are thrown.
Report reveal(BlackBox &box, const Options &options);

nlohmann::json toJson(const Report &report);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_REVEAL_H
