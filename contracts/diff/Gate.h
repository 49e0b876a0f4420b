// Gate.h - do two runs evaluate one object, by one set of contracts and code?
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_GATE_H
#define BITPACT_DIFF_GATE_H

#include "contracts/diff/RecordReader.h"

#include <set>

namespace bitpact::diff {

/// Where kernels ran, by number of the call site or by layer and name.
struct SiteKey {
  /// "rms_norm@1 at site 3", "layer 3 attn_norm"; sorted by layer and site.
  int64_t layer = 0;
  uint64_t number = 0;
  std::string name;
  bool launched = false;
  auto operator<=>(const SiteKey &) const = default;
  std::string text() const;
};

struct SiteDigests {
  /// An empty digest: a record that names none.
  std::set<std::string> contracts, code;
};

/// What the gate keeps of a run.
class RunSummary {
public:
  /// Throws RecordError if it contradicts an earlier record of the run.
  void take(const AnyRecord &record);
  /// take() for a whole file.
  void read(std::istream &stream);

  ReadReport report;
  bool hasRun = false;
  RunRecord run;
  std::map<std::string, SequenceRecord> sequences;
  std::map<SiteKey, SiteDigests> sites;
  /// What launch records call a contract, and a variant's code.
  std::map<std::string, std::string> names;

private:
  void merge(const RunRecord &more);
  void merge(const SequenceRecord &more);
};

/// A field in which the two runs do not evaluate the same object.
struct FieldDifference {
  std::string field, sequence;
  /// -1: not at one position.
  int64_t position = -1;
  std::string a, b;
  std::string text() const;
};

/// A call site with other contracts, or other code, in the two runs.
struct DigestDifference {
  SiteKey site;
  bool code = false;
  std::set<std::string> a, b;
};

struct GateReport {
  /// In the order of the gate; the first one decides.
  std::vector<FieldDifference> fields;
  /// Why the evidence is not whole, each beginning with the run, "A" or "B".
  std::vector<std::string> incomplete;
  /// Only where no field differs: other contracts or code, and sites of which
  /// it cannot be said.
  std::vector<DigestDifference> digests;
  std::vector<std::string> digestsIncomplete;
  uint64_t sitesCompared = 0;

  bool comparable() const { return fields.empty(); }
};

/// The fields, in the order in which they are compared.
std::vector<std::string> gateFields();

GateReport gate(const RunSummary &a, const RunSummary &b);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_GATE_H
