// Candidates.h - a library's algorithms as variants of a package
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_ATTEST_CANDIDATES_H
#define BITPACT_EVIDENCE_ATTEST_CANDIDATES_H

#include "tools/evidence/attest/Algorithms.h"
#include "tools/evidence/attest/Subject.h"

namespace bitpact::evidence::attest {

struct Candidate {
  package::Variant variant;
  package::Pin pin;
};

/// Without evidence. It serves the ranges, and comes before the generated
/// variants if it is preferred, else behind them.
Candidate candidateOf(const Subject &subject, const std::string &library,
                      const Offer &offer, size_t number, bool preferred);

/// A package with the contract, those of its generated variants that the
/// runtime would launch at the subject's shapes, and the candidates.
void writeCandidates(const std::string &directory, const Subject &subject,
                     const std::vector<Candidate> &candidates);

/// The whole package and the candidate, in place of one of the same algorithm
/// and ranges.
void writeAdmitted(const std::string &directory, const Subject &subject,
                   const Candidate &candidate);

} // namespace bitpact::evidence::attest

#endif // BITPACT_EVIDENCE_ATTEST_CANDIDATES_H
