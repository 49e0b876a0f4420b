// TileCoverage.cpp - that every element of the outputs is written, and where twice
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileCoverage.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

/// Whether the last block along a dim, moved back to where all of it exists, may
/// have an element of the block before it too. It gives it the same value.
static bool isTwice(int64_t index, int64_t extent, int64_t block) {
  return index >= extent - block && index < (extent - 1) / block * block;
}

/// Rows of blocks that end with a segment are not moved.
static bool hasSegments(tile::FuncOp func) {
  return func.walk([](tile::OffsetOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

LogicalResult TileCoverage::add(tile::PutOp op, const Window &to) {
  const Buffer *buffer = to.view->buffer;
  auto func = op->getParentOfType<tile::FuncOp>();
  tile::ScheduleAttr schedule = func.getSchedule();
  bool moves = schedule.copiesInBulk(), isCut = moves && hasSegments(func);
  auto mayBeTwice = [&](int64_t row, int64_t col) {
    return moves &&
           ((!isCut && isTwice(row, to.view->rows, schedule.getM())) ||
            isTwice(col, to.view->cols, schedule.getN()));
  };
  std::vector<bool> &marks = written[buffer];
  marks.resize(buffer->cells.size());
  int64_t lastRow = std::min(to.row + to.rows, to.view->rows),
          lastCol = std::min(to.col + to.cols, to.view->cols);
  for (int64_t row = to.row; row < lastRow; ++row)
    for (int64_t col = to.col; col < lastCol; ++col) {
      int64_t element = *to.view->elementAt(row, col);
      if (element < 0)
        return op.emitError()
               << "tile.put: row " << row << ", column " << col
               << " is outside of tensor '" << buffer->name << "'";
      if (marks[element] && !mayBeTwice(row, col))
        return op.emitError()
               << "tile.put: writes element [" << row << ", " << col
               << "] of tensor '" << buffer->name << "' a second time";
      marks[element] = true;
    }
  return success();
}

LogicalResult
TileCoverage::finish(tile::FuncOp func,
                     const std::map<std::string, Buffer> &buffers) {
  for (const auto &[name, buffer] : buffers) {
    if (!buffer.isOutput)
      continue;
    const std::vector<bool> &marks = written[&buffer];
    for (size_t i = 0; i < buffer.cells.size(); ++i)
      if (i >= marks.size() || !marks[i])
        return func.emitError() << "element " << i << " of output '" << name
                                << "' was never written";
  }
  return success();
}
