// RowCandidates.h - schedules of rows that a target is tried with
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_SCHEDULE_ROWCANDIDATES_H
#define BITPACT_COMPILER_SCHEDULE_ROWCANDIDATES_H

#include "codegen/Target/Target.h"
#include "dialects/Pact/Pact.h"

namespace bitpact::schedule {

enum Serves { Throughput = 1, Latency = 2, Both = 3 };

/// Rows that are few: GPUs have 100 to 150 multiprocessors (an H200 has 132,
/// a gfx942 up to 304), and where each has a row or two, what counts is how
/// soon a row ends and not how many bytes are under way.
inline constexpr int64_t kFewRows = 256;

/// Rows above which there are programs enough without some that share one.
inline constexpr int64_t kSharedRows = 64;

struct RowCandidate {
  llvm::StringRef kind;
  int64_t lanes, subgroup, programsPerGroup, vectorBytes, unroll;
  Serves serves;
  int64_t priority;
  bool fewRows = false, adjacent = false;
  int64_t rowsPerLane = 1, split = 0;
  /// Where it is meant for long rows, or programs share rows that are few.
  int64_t leastExtent = 1, sharedRows = kSharedRows;
};

/// In the order in which they are tried. `extent` is that of a row, or unknown.
std::vector<RowCandidate> rowCandidates(pact::OperatorOp op,
                                        const codegen::Target &target,
                                        int64_t extent);

} // namespace bitpact::schedule

#endif
