// RowCandidates.cpp - lanes, vectors and programs for a row
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/RowCandidates.h"

#include "codegen/Lowering/RowLowering.h"
#include "dialects/Pact/RowAxis.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

/// Lanes for a row of `extent` elements, so that a lane has about `each` of
/// them; a power of two between `least` and `most`.
int64_t lanesFor(int64_t extent, int64_t each, int64_t least, int64_t most) {
  int64_t lanes = least;
  while (lanes < most && lanes * each < extent)
    lanes *= 2;
  return lanes;
}

/// Fewer lanes a row than this leave too little of it side by side in memory.
constexpr int64_t kLeastLanes = 4;

/// A row takes as many lanes as keep each busy with a few accesses: a part of a
/// warp for short rows, a CTA for long ones, and more where rows are few. Rows
/// that are not aligned to 16 bytes have accesses that need no alignment; a row
/// a lane keeps any tree at all. Narrower rows follow for contracts whose
/// digits have no more blocks.
std::vector<RowCandidate> gpuCandidates(const codegen::Capabilities &facts,
                                     int64_t extent) {
  int64_t warp = facts.subgroupWidth, most = 16 * warp;
  if (extent == lowering::kDynamic)
    extent = 4096;
  std::vector<RowCandidate> result;
  auto add = [&](int64_t each, int64_t vectorBytes, Serves serves,
                 int64_t priority, bool fewRows) {
    for (int64_t lanes = lanesFor(extent, each, kLeastLanes, most);
         lanes >= kLeastLanes; lanes /= 2)
      result.push_back({"row_per_group", lanes, std::min(lanes, warp),
                        lanes > warp ? 1 : 4 * warp / lanes, vectorBytes, 128,
                        serves, priority, fewRows});
  };
  add(8, 16, Latency, 10, true);
  add(24, 16, Both, 20, false);
  add(24, 1, Both, 30, false);
  result.push_back({"row_per_lane", warp, warp, 4, 0, 16, Both, 40});
  return result;
}

/// A CPU runs a row across two vector registers or one, or a row in each
/// element of one. Accesses need no alignment (vector_bytes = 1).
std::vector<RowCandidate> cpuCandidates(const codegen::Capabilities &facts) {
  int64_t width = facts.vectorBits / 32;
  std::vector<RowCandidate> result;
  auto add = [&](int64_t widest, Serves serves) {
    for (int64_t lanes = widest; lanes >= kLeastLanes; lanes /= 2)
      result.push_back(
          {"row_per_group", lanes, lanes, 1, 1, 64, serves, 10, false, true});
  };
  add(2 * width, Throughput);
  add(width, Latency);
  result.push_back(
      {"row_per_lane", width, width, 1, 1, 16, Both, 20, false, true});
  return result;
}

/// Elements of a row that a program should have at least where programs share
/// the row.
constexpr int64_t kRowPart = 4096, kColumnPart = 256;
/// Lanes with several neighbouring rows, for reductions down the columns of a
/// matrix; programs that share rows, for long columns and, on GPUs, for few
/// long rows.
void addShared(std::vector<RowCandidate> &result,
               const codegen::Capabilities &facts, bool gpu) {
  int64_t width = gpu ? facts.subgroupWidth : facts.vectorBits / 32;
  // Of a wave of 64 lanes each has half as much under way as of 32.
  int64_t columnUnroll = gpu ? 128 * 32 / width : 16;
  auto add = [&](StringRef kind, int64_t lanes, int64_t programs,
                 int64_t vectorBytes, int64_t unroll, int64_t priority,
                 int64_t rowsPerLane, int64_t split) {
    RowCandidate c{kind,        lanes,  width, programs,
                vectorBytes, unroll, Both,  priority};
    c.adjacent = !gpu;
    c.rowsPerLane = rowsPerLane;
    c.split = split;
    if (split) // two parts at least
      c.leastExtent = 2 * split + 1;
    result.push_back(c);
  };
  // GPUs: aligned accesses first; CPUs need no alignment.
  for (int64_t vectorBytes : {16, 0}) {
    int64_t bytes = gpu ? vectorBytes : 1, later = vectorBytes ? 0 : 1;
    for (int64_t split : {kColumnPart, int64_t(0)})
      add("row_per_lane", width, gpu ? 4 : 1, bytes, columnUnroll,
          (split ? 2 : 4) + later, 8, split);
    if (!gpu)
      return;
    for (int64_t lanes = 16 * width; lanes >= width; lanes /= 2)
      add("row_per_group", lanes, 1, bytes, 64, 6 + later, 1, kRowPart);
  }
}

/// Programs of GPUs that share rows of which every element is computed by itself:
/// an element for each lane, or a pack. On an H200 (docs/results/
/// 2026-11-30-experts-activation.md) packs are faster from about eight rows, and as
/// fast as whole rows at a few hundred; single elements, which need no alignment,
/// are faster than packs that lie anywhere up to about a hundred. CPUs gain nothing.
void addSharedElements(std::vector<RowCandidate> &result,
                       const codegen::Capabilities &facts) {
  int64_t warp = facts.subgroupWidth;
  auto add = [&](int64_t warps, int64_t vectorBytes, int64_t each,
                 int64_t priority, int64_t mostRows) {
    RowCandidate c{"row_per_group", warps * warp, warp, 1,
                vectorBytes,     64,           Both, priority};
    c.split = c.lanes * each;
    c.leastExtent = c.split + 1;
    c.sharedRows = mostRows;
    result.push_back(c);
  };
  add(4, 0, 1, 5, 8);
  add(4, 16, 8, 6, kFewRows);
  add(8, 0, 1, 7, kSharedRows);
}

} // namespace

std::vector<RowCandidate>
schedule::rowCandidates(pact::OperatorOp op, const codegen::Target &target,
                        int64_t extent) {
  const codegen::Capabilities &facts = target.capabilities();
  bool gpu = target.kind() != codegen::TargetKind::Cpu;
  std::vector<RowCandidate> candidates;
  if (!pact::isElementwise(op))
    addShared(candidates, facts, gpu);
  else if (gpu)
    addSharedElements(candidates, facts);
  llvm::append_range(candidates,
                     gpu ? gpuCandidates(facts, extent) : cpuCandidates(facts));
  return candidates;
}
