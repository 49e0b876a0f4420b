// TileProof.cpp - a tile kernel keeps its contract at extents that decide
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileInterpreter.h"

#include <set>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

// A kernel of tiles takes every extent as an argument, also those that the
// contract fixes, and what it does depends on them through three numbers: rows
// of blocks, columns of blocks and stages of a block. So it is run
//   - at the contract's own depth, which is all where sums have parts, and at
//   depths that end around an atom's
//   step,
//     around a stage, and around the point at which the pipe's stages are used
//     for a second and a third time: two blocks for one program, so that a
//     block begins in the middle of the pipe;
//   - at rows and columns of blocks that end within a block, with a whole
//   group,
//     a lower one after it and several columns, and for one program, for few
//     that each have many blocks, and for more than there are blocks; where a
//     program is one block, for as many as there are.
// Where rows are cut into segments, they are so with segments that are empty, of
// one row, and of a row less than a block has, as many and one more; with one
// segment of all rows; with more segments than there are matrices; and with
// offsets that do not ascend from 0 to the extent.
// What no small extent shows is an overflow of 32 bits, which
// codegen/Lowering/TilePlan.h excludes by the extents that a launch may have.

namespace {

struct Case {
  int64_t rows, cols, depth, programs;
  int64_t steady = 1;
  std::vector<int64_t> offsets = {};
  int64_t matrices = 1;
};

/// Lengths of segments that decide, and then what is left of the rows, in the
/// order in which some are empty at both ends.
std::vector<int64_t> segmentsOf(int64_t rows, int64_t m) {
  std::vector<int64_t> offsets = {0, 0};
  for (int64_t length : {int64_t(1), m - 1, int64_t(0), m, m + 1})
    offsets.push_back(std::min(offsets.back() + length, rows));
  offsets.push_back(rows);
  offsets.push_back(rows);
  return offsets;
}

/// The cases with segments instead of whole rows. A program that is one block
/// is there as often as a launch has it.
std::vector<Case> segmented(ArrayRef<Case> whole, tile::ScheduleAttr schedule) {
  int64_t m = schedule.getM();
  std::vector<Case> cases;
  auto add = [&](Case one, std::vector<int64_t> offsets, int64_t matrices) {
    one.offsets = std::move(offsets);
    one.matrices = matrices;
    if (schedule.packsOwn()) {
      int64_t segments =
          std::clamp(int64_t(one.offsets.size()) - 1, int64_t(1), one.rows);
      one.programs = (one.rows + segments * (m - 1)) / m *
                     ((one.cols - 1) / schedule.getN() + 1);
    }
    cases.push_back(std::move(one));
  };
  for (const Case &one : whole) {
    std::vector<int64_t> offsets = segmentsOf(one.rows, m);
    add(one, offsets, int64_t(offsets.size()) - 1);
  }
  Case few = whole.back();
  few.programs = 3;
  for (int64_t rows : {int64_t(1), m, 2 * m + 1}) {
    few.rows = rows;
    add(few, {0, rows}, 1);
    add(few, {0, rows}, 3);
    add(few, {0, rows, rows}, 1);                    // none of those left out
    add(few, {0, std::min(rows, m - 1), rows}, 1);   // the second, mostly
    add(few, {0, rows - 1}, 1);
    add(few, {1, rows}, 1);
    add(few, {0, rows + 1, rows}, 2);
    add(few, {0, -1, rows}, 2);
    add(few, {0}, 1);
    add(few, {rows}, 1);
  }
  return cases;
}

std::set<int64_t> depthsOf(pact::ContractOp contract, pact::ReduceOp reduce,
                           tile::ScheduleAttr schedule, int64_t most) {
  auto attr = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
  const algebra::Partition &partition = attr.getPartition().getValue();
  int64_t own =
      cast<IntegerAttr>(contract.getDims().get(reduce.getOver())).getInt();
  // Kernels with parts are made for one depth.
  std::vector<algebra::BoundMerge> merges =
      attr.getMerge().getValue().bind(partition);
  if (algebra::accumulatorEntries(merges) < int(merges.size()) &&
      own != ShapedType::kDynamic)
    return {own};
  int64_t limit = std::min(most, partition.capacity().value_or(most));
  int64_t step = 1;
  for (const algebra::MergeEntry &entry : attr.getMerge().getValue().entries())
    if (entry.atom)
      step = entry.atom->terms;
  int64_t stage = schedule.getK(), ring = stage * schedule.getStages();
  std::set<int64_t> depths = {1};
  for (int64_t near : {step, stage, 2 * stage, ring, ring + stage, 2 * ring})
    for (int64_t depth : {near - 1, near, near + 1, near + step / 2})
      if (depth >= 1 && depth <= limit)
        depths.insert(depth);
  if (own != ShapedType::kDynamic && own <= most)
    depths.insert(own);
  return depths;
}

std::vector<Case> casesOf(pact::ContractOp contract, pact::OperatorOp op,
                          tile::ScheduleAttr schedule, int64_t most) {
  std::vector<Case> cases;
  std::set<int64_t> depths;
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>())
    depths.merge(depthsOf(contract, reduce, schedule, most));
  int64_t m = schedule.getM(), n = schedule.getN();
  bool own = schedule.packsOwn();
  for (int64_t depth : depths)
    cases.push_back({m + 1, n / 2 + 1, depth, own ? 2 : 1});
  // Of depths those with one stage and with few, in both of which the last is
  // not whole.
  int64_t groups = schedule.getGroup() + 2;
  int64_t rows = m * groups + m / 2 + 1, cols = 2 * n + 3;
  std::set<int64_t> few = {schedule.getK() - 1, 2 * schedule.getK() + 1};
  if (depths.size() == 1)
    few = depths;
  for (int64_t depth : few)
    if (depths.count(depth) && own)
      cases.push_back({rows, cols, depth, 3 * (groups + 1)});
    else if (depths.count(depth))
      for (int64_t programs : {int64_t(1), int64_t(5), 3 * (groups + 1) + 1})
        cases.push_back({rows, cols, depth, programs});
  cases.push_back({1, 1, *depths.begin(), own ? 1 : 2});
  // Rows that are less than a block's.
  cases.push_back({m / 2 + 1, n, *depths.begin(), 1});
  // Where tensors are steady, stages of a program's first block begin early; all
  // that is otherwise so has been run in its other blocks.
  if (schedule.copiesInBulk())
    for (int64_t depth : few)
      if (depths.count(depth))
        cases.push_back({m / 2 + 1, cols, depth, 2, /*steady=*/0});
  if (!op.getOps<pact::SegmentOp>().empty())
    return segmented(cases, schedule);
  return cases;
}

} // namespace

LogicalResult interpreter::proveSchedule(pact::ContractOp contract,
                                         pact::OperatorOp op, tile::FuncOp func,
                                         int64_t most) {
  auto reduces = op.getOps<pact::ReduceOp>();
  if (reduces.empty())
    return func.emitError() << "the operator reduces nothing";
  pact::ReduceOp reduce = *reduces.begin();
  auto resultDims =
      cast<pact::RealType>(reduce.getResult().getType()).getDims();
  if (resultDims.size() != 2)
    return func.emitError() << "the result of a tile kernel is a matrix";
  for (const Case &one : casesOf(contract, op, func.getSchedule(), most)) {
    Dims dims = {{resultDims[0].str(), one.rows},
                 {resultDims[1].str(), one.cols},
                 {reduce.getOver().str(), one.depth}};
    for (Attribute slot : func.getSlots())
      if (StringRef name = cast<StringAttr>(slot).getValue();
          name.ends_with(tile::kSteadySlot))
        dims[name.str()] = one.steady;
    for (pact::SegmentOp segment : op.getOps<pact::SegmentOp>()) {
      auto offsets = cast<pact::RealType>(segment.getOffsets().getType());
      dims[offsets.getDims().front().str()] = int64_t(one.offsets.size());
      for (Operation *user : segment->getUsers())
        dims[cast<pact::TakeOp>(user).getOver().str()] = one.matrices;
    }
    FailureOr<TreeReport> report =
        interpretTrees(contract, op, func, dims, one.programs, one.offsets);
    if (failed(report))
      return failure();
    if (report->equal())
      continue;
    return reportBroken(func, func.getSymName(), func.getSchedule().text(),
                        *report);
  }
  return success();
}
