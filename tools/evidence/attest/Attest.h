// Attest.h - a library's product becomes a variant, or is refused
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ATTEST_ATTEST_H
#define BITPACT_EVIDENCE_ATTEST_ATTEST_H

#include "tools/evidence/Data.h"
#include "tools/evidence/Progress.h"
#include "tools/evidence/attest/Algorithms.h"
#include "tools/evidence/attest/Subject.h"

namespace bitpact::evidence::attest {

struct Request {
  std::string package, contract, device, library, output;
  /// Of open dims: the extents for which the library shall serve.
  Ranges ranges;
  OfferOptions offer;
  std::vector<Recipe> recipes = allRecipes();
  uint64_t seed = 1;
  /// Whether the library's variant is tried before the generated ones.
  bool preferred = false;
};

/// An algorithm that does not keep the contract, or not everywhere.
struct Refusal {
  Algorithm algorithm;
  std::string why;
};

struct Report {
  std::string contract, version, device;
  /// "in=4096 out=6144 tokens=512", and where the tree was found.
  std::vector<std::string> shapes, revealed;
  std::vector<Refusal> refused;
  /// Empty if nothing was admitted; then no package was written.
  std::string variant;
  Algorithm admitted;
  /// Of the variant that was admitted, or of all that were refused.
  int64_t launches = 0, compared = 0;
};

/// Holds the library's algorithms against the contract at extents over the
/// ranges: `check` compares every output with those of the generated variants
/// and some with the reference evaluator, `reveal` compares the tree. The first
/// that keeps the contract everywhere becomes a variant of a copy of the
/// package. Throws UserError.
Report attest(const Request &request, const Progress &progress);

} // namespace bitpact::evidence::attest

#endif // BITPACT_EVIDENCE_ATTEST_ATTEST_H
