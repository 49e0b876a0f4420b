// RecordReader.h - a file of records, line by line, and what it lacks
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_RECORDREADER_H
#define BITPACT_DIFF_RECORDREADER_H

#include "contracts/diff/RunRecords.h"

#include <functional>
#include <istream>

namespace bitpact::diff {

/// What a file held, and why its evidence is not whole.
struct ReadReport {
  uint64_t lines = 0, runs = 0, sequences = 0, launches = 0, rows = 0,
           logprobs = 0, ends = 0;
  /// Lines that are cut or mixed; the first ones are named in `incomplete`.
  uint64_t damaged = 0;
  std::vector<std::string> incomplete;
};

using RecordSink = std::function<void(AnyRecord &, uint64_t line)>;

/// Hands every record to `sink`, in the order of the file, in memory for one
/// line. Throws RecordError with its line for what is no record; damage,
/// dropped launches and counts that do not match are reported.
ReadReport readRecords(std::istream &stream, const RecordSink &sink);

} // namespace bitpact::diff

#endif // BITPACT_DIFF_RECORDREADER_H
