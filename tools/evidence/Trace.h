// Trace.h - the first site at which two recorded runs part
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_TRACE_H
#define BITPACT_EVIDENCE_TRACE_H

#include "contracts/diff/Gate.h"
#include "tools/evidence/LogprobSplit.h"
#include "tools/evidence/Ulps.h"

namespace bitpact::evidence {

struct TraceOptions {
  /// Rows that are missing on one side are reported and do not count.
  bool common = false;
  std::optional<LogprobSplitter::Clip> clip;
  LogprobSplitter::EachToken eachToken;
  /// Records in memory at a time, for each file.
  size_t chunk = size_t(1) << 20;
};

/// What one run says of a row.
struct TracedRow {
  std::string hash, dtype, contract, code, device;
};

struct SiteTrace {
  int64_t layer = 0;
  std::string site;
  /// Keys that both runs have, and those that only one has.
  uint64_t rows = 0, differing = 0, onlyA = 0, onlyB = 0;
  /// Keys with several hashes in one run.
  uint64_t unsteadyA = 0, unsteadyB = 0;
  /// The first row, by sequence and position, that differs, is missing, is
  /// unsteady; `sequence S, position P`, or empty.
  std::string firstDiffering, firstMissing, firstUnsteady;
  TracedRow a, b; // at firstDiffering
  UlpStatistics ulps;
  std::string text() const;
};

struct TraceReport {
  /// In the order of execution: by layer, and within a layer in the order in
  /// which A first has the sites, then B.
  std::vector<SiteTrace> sites;
  /// Empty unless both files have a run record.
  std::optional<diff::GateReport> gate;
  LogprobSplit logprobs;
  std::vector<std::string> incomplete, notes;

  const SiteTrace *firstDifference() const;
  bool differs() const;
};

/// Throws UserError.
TraceReport trace(const std::string &fileA, const std::string &fileB,
                  const TraceOptions &options);

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_TRACE_H
