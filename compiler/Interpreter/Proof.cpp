// Proof.cpp - a kernel keeps its contract at every extent that decides
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Agreement.h"
#include "compiler/Interpreter/Interpreter.h"
#include "dialects/Pact/RowAxis.h"

#include <numeric>
#include <set>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

std::vector<int64_t> interpreter::decisiveExtents(pact::ContractOp contract,
                                                  pact::OperatorOp op,
                                                  int64_t most) {
  std::set<int64_t> extents;
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>()) {
    int64_t extent =
        cast<IntegerAttr>(contract.getDims().get(reduce.getOver())).getInt();
    if (extent != ShapedType::kDynamic) {
      if (extent <= most)
        extents.insert(extent);
      continue;
    }
    auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
    const algebra::Partition &partition = node.getPartition().getValue();
    int64_t limit = std::min(most, partition.capacity().value_or(most));
    for (int64_t one : {int64_t(1), int64_t(2), int64_t(3)})
      extents.insert(std::min(one, limit));
    for (int i = 0; i < partition.size(); ++i)
      for (int64_t blocks : {1, 2, 3})
        for (int64_t near : {-1, 0, 1}) {
          int64_t boundary = partition.length(i) * blocks + near;
          if (boundary >= 1 && boundary <= limit)
            extents.insert(boundary);
        }
  }
  return {extents.begin(), extents.end()};
}

namespace {

/// A launch that is run on trees.
struct Case {
  int64_t extent, rows;
  std::vector<int64_t> offsets;
};

/// Rows at which a program ends and another begins, or as many as `most`
/// elements allow: what the arithmetic of one row does not show is which row it
/// is.
int64_t decisiveRows(kernel::FuncOp func, int64_t extent, int64_t most) {
  if (func.getRows().empty())
    return 1;
  int64_t rows = func.getSchedule().rowsPerProgram() + 1;
  return std::max<int64_t>(1,
                           std::min(rows, most / std::max<int64_t>(extent, 1)));
}

/// The extent that the contract states, if it is longer than `most`.
std::optional<int64_t> longExtent(pact::ContractOp contract,
                                  pact::OperatorOp op, int64_t most) {
  auto isLong = [&](StringAttr dim) {
    int64_t extent = cast<IntegerAttr>(contract.getDims().get(dim)).getInt();
    return extent != ShapedType::kDynamic && extent > most
               ? std::optional(extent)
               : std::nullopt;
  };
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>())
    if (std::optional<int64_t> extent = isLong(reduce.getOverAttr()))
      return extent;
  return pact::isElementwise(op) ? isLong(pact::rowAxis(op)) : std::nullopt;
}

/// Of element-wise operators the schedule alone decides: where a visit of all
/// lanes ends, with and without packs, and a turn of several of them; and where
/// the stretch of a program ends.
std::set<int64_t> elementExtents(pact::ContractOp contract, pact::OperatorOp op,
                                 kernel::ScheduleAttr schedule, int64_t most) {
  int64_t extent =
      cast<IntegerAttr>(contract.getDims().get(pact::rowAxis(op))).getInt();
  if (extent != ShapedType::kDynamic)
    return extent <= most ? std::set<int64_t>{extent} : std::set<int64_t>();
  std::set<int64_t> extents = {1, 2, 3};
  constexpr int64_t pack = 8;
  for (int64_t visit : {schedule.getLanes(), pack * schedule.getLanes(),
                        std::max(schedule.getSplit(), int64_t(1))})
    for (int64_t boundary : {visit, 2 * visit, 4 * visit})
      for (int64_t near : {-1, 0, 1})
        if (boundary + near <= most)
          extents.insert(boundary + near);
  return extents;
}

/// Rows longer than this are proved with rounds left out, or not at all.
constexpr int64_t kLongestWhole = int64_t(1) << 18;
/// Blocks of the outermost digit that are not left out: the first begins
/// accumulators, and those after it go on with them.
constexpr int64_t kBlocksKept = 3;

/// Elements in a block of the outermost digit, which must be one whose blocks
/// are visited in turn; of several nodes a common multiple.
std::optional<int64_t> blockOf(pact::ContractOp contract, pact::OperatorOp op) {
  int64_t length = 1;
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>()) {
    auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
    const algebra::Partition &partition = node.getPartition().getValue();
    if (node.getOffsets())
      return std::nullopt;
    for (const algebra::BoundMerge &entry :
         node.getMerge().getValue().bind(partition))
      if (entry.digit == 0 && (entry.form == algebra::Form::Pairwise ||
                               entry.form == algebra::Form::Halving))
        return std::nullopt;
    length = std::lcm(length, partition.length(0));
  }
  return length;
}

/// Proves a long row with as many of its blocks left out as may be.
bool agreesShortened(pact::ContractOp contract, pact::OperatorOp op,
                     ArrayRef<kernel::FuncOp> steps, int64_t extent,
                     int64_t exist, const std::vector<int64_t> &indices,
                     CasePool *pool) {
  std::optional<int64_t> block = blockOf(contract, op);
  // Loops take several blocks in a round: more are kept then.
  for (int tries = 0; block && tries < 3; ++tries) {
    int64_t full = exist / *block;
    if (full <= kBlocksKept)
      return false;
    Launch launch{extent, 1, {}, indices, {}};
    launch.leftOut = {kBlocksKept * *block, (full - kBlocksKept) * *block};
    if (interpreter::treesAgree(contract, op, steps, launch, pool))
      return true;
    if (!launch.leftOut.advance)
      return false;
    block = std::lcm(*block, launch.leftOut.advance);
  }
  return false;
}

/// Where lanes have several rows, whole packs of them take another way than
/// the rest: rows enough for that, at one extent with several blocks.
constexpr int64_t kWidestExtent = 600;

std::vector<Case> casesOf(pact::ContractOp contract, pact::OperatorOp op,
                          kernel::FuncOp func, int64_t most) {
  kernel::ScheduleAttr schedule = func.getSchedule();
  std::vector<int64_t> extents =
      interpreter::decisiveExtents(contract, op, most);
  if (pact::isElementwise(op)) {
    std::set<int64_t> own = elementExtents(contract, op, schedule, most);
    extents.assign(own.begin(), own.end());
  }
  bool cut = llvm::any_of(contract.getNodes(), [](NamedAttribute node) {
    return bool(cast<pact::NodeAttr>(node.getValue()).getOffsets());
  });
  std::vector<Case> cases;
  auto add = [&](int64_t extent, int64_t rows) {
    cases.push_back({extent, rows, {}});
    if (cut) // empty blocks at both ends and between others
      cases.push_back({extent,
                       rows,
                       {0, 0, extent / 3, extent / 3, extent / 3 + extent / 2,
                        extent, extent}});
  };
  // Rows at the smallest extent: they do not depend on it.
  for (int64_t extent : extents)
    add(extent,
        extent == extents.front() ? decisiveRows(func, extent, most) : 1);
  if (schedule.getRowsPerLane() > 1 && !extents.empty()) {
    int64_t widest = extents.front();
    for (int64_t extent : extents)
      if (extent <= kWidestExtent)
        widest = extent;
    add(widest, schedule.getAdjacent() ? schedule.rowsPerProgram()
                                       : 2 * schedule.getRowsPerLane());
  }
  return cases;
}

} // namespace

LogicalResult interpreter::reportBroken(Operation *func, StringRef name,
                                        const std::string &schedule,
                                        const TreeReport &report) {
  InFlightDiagnostic error = func->emitError()
                             << "kernel '" << name << "' (" << schedule
                             << ") does not keep its contract: "
                             << report.differences.front();
  for (const std::string &more : ArrayRef(report.differences).drop_front())
    error.attachNote() << more;
  return failure();
}

LogicalResult interpreter::proveSchedule(pact::ContractOp contract,
                                         pact::OperatorOp op,
                                         ArrayRef<kernel::FuncOp> steps,
                                         int64_t most, CasePool *pool) {
  kernel::FuncOp func = steps.front();
  bool takes = !op.getOps<pact::IndexOp>().empty();
  std::vector<Case> cases = casesOf(contract, op, func, most);
  std::optional<int64_t> longer = longExtent(contract, op, most);
  if (longer)
    cases.push_back({*longer, 1, {}});
  for (Case one : cases) {
    // The first and the last position there are, and those beside them: a row
    // each where rows are cheap.
    std::vector<int64_t> indices;
    int64_t exist = one.extent;
    for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>())
      exist = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()))
                  .extentOf(one.extent);
    if (takes) {
      indices = {exist - 1, exist, -1, 0};
      one.rows = std::max<int64_t>(one.rows, one.extent > 4096 ? 1
                                             : one.extent > 64 ? 2
                                                               : 4);
    }
    if (longer == one.extent &&
        (agreesShortened(contract, op, steps, one.extent, exist, indices,
                         pool) ||
         one.extent > kLongestWhole))
      continue;
    Launch launch{one.extent, one.rows, one.offsets, indices, {}};
    if (treesAgree(contract, op, steps, launch, pool))
      continue;
    // What differs, operation by operation.
    FailureOr<TreeReport> report = interpretTrees(
        contract, op, steps, one.extent, one.rows, one.offsets, indices);
    if (failed(report))
      return failure();
    if (report->equal())
      continue;
    return reportBroken(func, func.getSymName(), func.getSchedule().text(),
                        *report);
  }
  return success();
}
