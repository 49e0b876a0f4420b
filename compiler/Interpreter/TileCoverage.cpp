// TileCoverage.cpp - that every element of the outputs is written once
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileCoverage.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

LogicalResult TileCoverage::add(tile::PutOp op, const Window &to) {
  const Buffer *buffer = to.view->buffer;
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
      if (marks[element])
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
