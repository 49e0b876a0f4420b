// OwnTileSchedule.cpp - tile schedules of CPUs, whose programs pack their blocks
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/TileSchedule.h"

#include "codegen/Lowering/TileParts.h"
#include "codegen/Lowering/TilePlan.h"

#include <numeric>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

/// Sums of a block stay in the second-level cache beside what is packed for
/// them, and those of a panel in registers. A panel has as many rows and vectors
/// of columns as the registers hold beside one column of operands. Few rows
/// would leave most of it empty, and have one of their own.
struct Panel {
  unsigned vectorBits;
  int64_t rows, vectors, fewRows, fewVectors;
};
constexpr Panel kPanels[] = {
    {512, 14, 2, 4, 4}, {256, 6, 2, 4, 2}, {128, 8, 3, 4, 4}};
/// All of it is on the stack of a thread, which may have 512 KiB: 306 KiB are
/// taken, of f32, and 202 KiB with an atom, whose operands are significands and
/// exponents.
constexpr int64_t kRows = 168, kCols = 192, kBytes = 512, kGroup = 4,
                  kFewRows = 4;
constexpr int64_t kAtomRows = 84, kAtomBytes = 256;

/// Elements of an atom's step meet in one vector of sums after the other.
constexpr int64_t kAtomPanelRows = 4;

/// The largest part of `most` that whole stages make up a part of the dim with.
int64_t stageOf(pact::NodeAttr node, int64_t most) {
  const algebra::Partition &partition = node.getPartition().getValue();
  std::vector<algebra::BoundMerge> merges =
      node.getMerge().getValue().bind(partition);
  size_t chains = size_t(algebra::accumulatorEntries(merges));
  if (chains == merges.size())
    return most;
  return std::gcd(partition.length(merges[chains].digit), most);
}

} // namespace

void schedule::proposeOwnTiles(pact::ContractOp contract, pact::OperatorOp op,
                               const codegen::Target &target,
                               ArrayRef<std::string> roles,
                               std::vector<Proposal> &proposals,
                               std::vector<std::string> &refusals) {
  llvm::Expected<lowering::TileFamily> family = lowering::tileFamily(op);
  if (!family) // kernels of rows are what there is
    return llvm::consumeError(family.takeError());
  auto attr =
      cast<pact::NodeAttr>(
      contract.getNodes().get(family->dots.front().getNode()));
  int64_t width = attr.getAccumulator().getIntOrFloatBitWidth();
  int64_t blocks = 1 + int64_t(lowering::slotBits(contract, op).size());
  auto add = [&](int64_t lanes, int64_t m, int64_t bytes, int64_t rows,
                 int64_t vectors, int64_t priority) {
    // Above the lanes, rows are packed in whole vectors; more columns then fill
    // the registers.
    if (rows > lanes && rows % lanes) {
      rows -= rows % lanes;
      ++vectors;
    }
    // Sums of several products share the cache; those of few rows are small.
    // With parts there is as much in scratch as without.
    bool isFew = m == kFewRows;
    int64_t cols = kCols, panel = vectors * lanes;
    if (!isFew) {
      cols = std::max(
          kCols / int64_t(family->dots.size()) / panel * panel, panel);
      m = std::max(m * 32 / width / blocks / rows, int64_t(1)) * rows;
    }
    Proposal proposal;
    proposal.tiles = tile::ScheduleAttr::get(
        contract.getContext(), m, cols, stageOf(attr, bytes * 8 / width), 1, 1,
        kGroup, "own", 0, 0, /*cluster=*/1, /*held=*/0, rows, panel, lanes);
    if (std::optional<std::string> why =
            lowering::whyNot(contract, op, proposal.tiles)) {
      std::string text = "tiles: " + *why;
      if (!llvm::is_contained(refusals, text))
        refusals.push_back(text);
      return;
    }
    proposal.roles = roles.vec();
    proposal.priority = priority;
    proposal.dims = tileExtents(contract, op);
    if (isFew)
      proposal.dims[family->rowDim] = {1, kFewRows};
    proposals.push_back(proposal);
  };
  for (const Panel &panel : kPanels) {
    if (panel.vectorBits != target.capabilities().vectorBits)
      continue;
    int64_t lanes = panel.vectorBits / width;
    if (lowering::atomOf(contract, family->dots.front())) {
      add(lanes, kAtomRows, kAtomBytes, kAtomPanelRows, 1, 10);
      continue;
    }
    add(lanes, kFewRows, kBytes, panel.fewRows, panel.fewVectors, 10);
    add(lanes, kRows, kBytes, panel.rows, panel.vectors, 20);
  }
}
