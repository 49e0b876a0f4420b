// Records.cpp - any bytes as records of a run, which agree with themselves
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/diff/Gate.h"
#include "contracts/diff/RecordLine.h"

#include <cstdlib>
#include <sstream>

using namespace bitpact::diff;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::istringstream stream(
      std::string(reinterpret_cast<const char *>(data), size));
  RunSummary run;
  try {
    run.report = readRecords(stream, [&](AnyRecord &record, uint64_t) {
      run.take(record);
      if (auto *row = std::get_if<RowRecord>(&record)) {
        // An empty digest stands for one that is not there.
        row->contract = row->code = std::string(64, '0');
        auto again =
            std::get<RowRecord>(parseRecord(parseRecordLine(rowLine(*row))));
        if (again.hash != row->hash || again.sequence != row->sequence ||
            again.tensor != row->tensor || again.layer != row->layer)
          std::abort();
      }
    });
  } catch (const RecordError &error) {
    if (!error.line() || !error.column())
      std::abort();
    return 0;
  }
  GateReport report = gate(run, run);
  if (!report.fields.empty() || !report.digests.empty())
    std::abort();
  return 0;
}
