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

/// The elements of a row of the view from one column to before another, the number of
/// the first and that after the last, if they lie side by side in the tensor: numbers
/// of elements that exist grow no faster than columns.
static std::optional<std::pair<unsigned, unsigned>>
besideEachOther(const TileView &view, int64_t row, int64_t firstCol, int64_t lastCol) {
  if (view.colStride != 1 || firstCol >= lastCol)
    return std::nullopt;
  int64_t first = *view.elementAt(row, firstCol), last = *view.elementAt(row, lastCol - 1);
  if (first < 0 || last - first != lastCol - 1 - firstCol)
    return std::nullopt;
  return std::pair(unsigned(first), unsigned(last + 1));
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
  llvm::BitVector &marks = written[buffer];
  marks.resize(unsigned(buffer->cells.size()));
  int64_t lastRow = std::min(to.row + to.rows, to.view->rows),
          lastCol = std::min(to.col + to.cols, to.view->cols);
  auto put = [&](int64_t row, int64_t col, unsigned element) -> LogicalResult {
    if (marks[element] && !mayBeTwice(row, col))
      return op.emitError()
             << "tile.put: writes element [" << row << ", " << col
             << "] of tensor '" << buffer->name << "' a second time";
    marks.set(element);
    return success();
  };
  for (int64_t row = to.row; row < lastRow; ++row) {
    if (auto range = besideEachOther(*to.view, row, to.col, lastCol)) {
      auto [first, end] = *range;
      for (int again = marks.find_first_in(first, end); again >= 0;
           again = marks.find_first_in(unsigned(again) + 1, end))
        if (failed(put(row, to.col + (again - int64_t(first)), unsigned(again))))
          return failure();
      marks.set(first, end);
      continue;
    }
    for (int64_t col = to.col; col < lastCol; ++col) {
      int64_t element = *to.view->elementAt(row, col);
      if (element < 0)
        return op.emitError()
               << "tile.put: row " << row << ", column " << col
               << " is outside of tensor '" << buffer->name << "'";
      if (failed(put(row, col, unsigned(element))))
        return failure();
    }
  }
  return success();
}

LogicalResult
TileCoverage::finish(tile::FuncOp func,
                     const std::map<std::string, Buffer> &buffers) {
  for (const auto &[name, buffer] : buffers) {
    if (!buffer.isOutput)
      continue;
    llvm::BitVector &marks = written[&buffer];
    marks.resize(unsigned(buffer.cells.size()));
    if (int missing = marks.find_first_unset(); missing >= 0)
      return func.emitError() << "element " << missing << " of output '" << name
                              << "' was never written";
  }
  return success();
}
