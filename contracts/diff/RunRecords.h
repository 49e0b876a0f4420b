// RunRecords.h - the records of a run, one type for each kind of line
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_RUNRECORDS_H
#define BITPACT_DIFF_RUNRECORDS_H

#include "contracts/diff/KvMap.h"
#include "contracts/diff/Ownership.h"

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bitpact::diff {

/// docs/records.md says what each field means. A field that is not there is
/// empty here, and nothing is assumed of it.

/// Integers, or the SHA-256 of their 64-bit little-endian bytes.
struct Listing {
  bool listed = false;
  std::vector<int64_t> values;
  int64_t count = 0;
  /// Of both forms.
  std::string sha256;
  /// Compares what they stand for, not how they are written.
  bool same(const Listing &other) const {
    return count == other.count && sha256 == other.sha256;
  }
};
std::string listingHash(const std::vector<int64_t> &values);

struct RunRecord {
  std::optional<std::string> weights, version;
  std::optional<nlohmann::json> rope, mask, logprob;
  std::optional<Ownership> heads, kvHeads, vocabularyOwners;
  std::optional<Interval> vocabulary;
  std::optional<bool> replay;
  std::optional<nlohmann::json> rngState;
};

struct SequenceRecord {
  std::string sequence;
  std::optional<Listing> tokens, targets, active, positions;
  std::optional<KvMap> kv;
  std::optional<Ownership> owners;
};

struct LaunchRecord {
  uint64_t sequence = 0, dropped = 0, site = 0;
  bool numbered = false;
  std::string contract, name, op, code, variant, device, role;
};

/// The first 16 bytes of a SHA-256.
using RowHash = std::array<uint8_t, 16>;

struct RowRecord {
  std::string sequence, site, dtype;
  int64_t position = 0, layer = 0;
  RowHash hash{};
  std::string contract, code, device;
  /// Where the row was kept, if it was.
  std::string tensor;
  int64_t row = -1;
};

enum class LogprobRole : uint8_t { Training, Prefill, Decode, Recorded };
const char *nameOf(LogprobRole role);

struct LogprobRecord {
  std::string sequence;
  int64_t position = 0;
  LogprobRole role = LogprobRole::Training;
  std::string dtype;
  uint64_t bits = 0;
};

/// What a writer says it has written, and what the device counted.
struct EndRecord {
  std::optional<uint64_t> sequences, launches, rows, logprobs;
  std::map<uint64_t, uint64_t> sites;
  uint64_t dropped = 0;
};

using AnyRecord = std::variant<RunRecord, SequenceRecord, LaunchRecord,
                               RowRecord, LogprobRecord, EndRecord>;

/// Throws RecordError.
AnyRecord parseRecord(const nlohmann::json &line);

/// What `bitpact run --rows` writes for the bytes of one row.
RowHash hashRow(std::string_view bytes);
std::string hexOf(const RowHash &hash);
std::string rowLine(const RowRecord &row);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_RUNRECORDS_H
