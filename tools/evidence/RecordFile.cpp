// RecordFile.cpp - record files by name, with their mistakes as user errors
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/RecordFile.h"

#include "contracts/diff/RecordLine.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <fmt/format.h>

namespace bitpact::evidence {

diff::ReadReport readRecordFile(const std::string &file,
                                const diff::RecordSink &sink) {
  std::ifstream stream = openRegular(file).first;
  try {
    return diff::readRecords(stream, sink);
  } catch (const diff::RecordError &error) {
    throw UserError(fmt::format("{}:{}:{}", file, error.line(), error.column()),
                    error.what());
  }
}

diff::RunSummary readRunSummary(const std::string &file) {
  diff::RunSummary run;
  run.report = readRecordFile(
      file, [&](diff::AnyRecord &record, uint64_t) { run.take(record); });
  return run;
}

} // namespace bitpact::evidence
