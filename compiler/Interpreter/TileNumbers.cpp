// TileNumbers.cpp - a tile kernel run on bit patterns
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Segments.h"
#include "compiler/Interpreter/TileCoverage.h"
#include "compiler/Interpreter/Tensors.h"
#include "compiler/Interpreter/TileInterpreter.h"
#include "contracts/reference/Arithmetic.h"
#include "contracts/reference/DotAtom.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

namespace {

/// An element of a window; zero beyond the extents of the view.
FailureOr<uint64_t> bitsAt(tile::PutOp op, const Window &window, int64_t row,
                           int64_t col) {
  if (!window.holds(row))
    return op.emitError() << "tile.put: row " << window.row + row
                          << " of tensor '" << window.view->buffer->name
                          << "' was not copied";
  std::optional<int64_t> element =
      window.view->elementAt(window.row + row, window.col + col, window.matrix);
  if (!element)
    return uint64_t(0);
  const Buffer &buffer = *window.view->buffer;
  if (*element < 0)
    return op.emitError() << "row " << window.row + row << ", column "
                          << window.col + col << " is outside of tensor '"
                          << buffer.name << "'";
  return buffer.cells[*element].bits;
}

FailureOr<double> elementAt(tile::PutOp op, const Window &window, int64_t row,
                            int64_t col) {
  FailureOr<uint64_t> bits = bitsAt(op, window, row, col);
  if (failed(bits))
    return failure();
  double value = reference::decode(formatOf(window.view->buffer->type), *bits);
  bool isAbsent = !window.view->elementAt(window.row + row, window.col + col);
  return isAbsent && window.negative ? -0.0 : value;
}

/// One fma of f32, whose operands are f32 or what widens to it.
double fma(double a, double b, double sum) {
  using algebra::Format;
  const uint64_t operands[] = {reference::encode(Format::F32, a),
                               reference::encode(Format::F32, b),
                               reference::encode(Format::F32, sum)};
  return reference::decode(
      Format::F32,
      *evaluate({interpreter::Op::Fma, Scalar::F32, Scalar::F32}, operands));
}

/// The format of the sums, of which a kernel has one.
Scalar accumulatorOf(tile::FuncOp func) {
  Scalar format = Scalar::F32;
  func.walk([&](tile::AwaitOp op) {
    format = *scalarOf(op.getResult().getType().getElementType());
  });
  return format;
}

/// In the format in which the block holds elements.
Cell widened(TermStore &terms, Cell cell, const Window &window,
             mlir::Value element) {
  Scalar from = window.view->buffer->type, to = *scalarOf(element.getType());
  return from == to ? cell
                    : terms.apply({interpreter::Op::Extend, to, from}, {cell});
}

FailureOr<Cell> sumOf(tile::PutOp op, TermStore &terms,
                      const TileValues &values, Scalar format, int64_t row,
                      int64_t col) {
  // What a first element goes into unchanged is -0.
  Cell sum = Cell::of(reference::encode(formatOf(format),
                                        values.first ? -0.0 : 0.0));
  std::vector<double> a, b;
  for (const TileProduct &product : values.products) {
    int64_t depth = product.depth();
    for (int64_t k = 0; product.chain && k < depth; ++k) {
      FailureOr<uint64_t> left = bitsAt(op, product.a, row, k),
                          right = bitsAt(op, product.b, col, k);
      if (failed(left) || failed(right))
        return failure();
      mlir::Block &step = product.chain.getBody().front();
      sum = yielded(step,
                    {widened(terms, Cell::of(*left), product.a, step.getArgument(0)),
                     widened(terms, Cell::of(*right), product.b, step.getArgument(1)),
                     sum},
                    terms);
    }
    for (int64_t k = 0; !product.chain && k < depth; k += product.atom.terms) {
      a.clear();
      b.clear();
      int64_t end = std::min(k + product.atom.terms, depth);
      for (int64_t i = k; i < end; ++i) {
        FailureOr<double> left = elementAt(op, product.a, row, i),
                          right = elementAt(op, product.b, col, i);
        if (failed(left) || failed(right))
          return failure();
        a.push_back(*left);
        b.push_back(*right);
      }
      double before = reference::decode(algebra::Format::F32, sum.bits);
      double after =
          product.atom.terms == 1
              ? fma(a.front(), b.front(), before)
              : reference::dotStep(product.atom,
                                   formatOf(product.a.view->buffer->type),
                                   a.data(), b.data(), int(a.size()), before);
      sum = Cell::of(reference::encode(algebra::Format::F32, after));
    }
  }
  return sum;
}

FailureOr<Cell> leafOf(tile::PutOp op, TermStore &terms,
                       const TileValues &values, Scalar format, int64_t row,
                       int64_t col) {
  if (values.absent)
    return Cell::of(notANumber(format));
  if (!values.loaded)
    return sumOf(op, terms, values, format, row, col);
  FailureOr<uint64_t> bits = bitsAt(op, *values.loaded, row, col);
  if (failed(bits))
    return failure();
  return Cell::of(*bits);
}

} // namespace

FailureOr<Tensors> interpreter::interpretNumbers(tile::FuncOp func,
                                                 const Tensors &tensors,
                                                 const Dims &dims,
                                                 int64_t programs,
                                                 bool *fault) {
  auto found = buffersOf(func, tensors, [](const std::string &) { return 1; });
  if (failed(found))
    return failure();
  std::map<std::string, Buffer> &buffers = *found;
  TermStore terms;
  TileCoverage coverage;
  Scalar accumulator = accumulatorOf(func);
  auto put = [&](tile::PutOp op,
                 const std::shared_ptr<const TileValues> &values,
                 const Window &to) -> LogicalResult {
    if (failed(coverage.add(op, to)))
      return failure();
    int64_t rows = std::min(to.rows, to.view->rows - to.row),
            cols = std::min(to.cols, to.view->cols - to.col);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t col = 0; col < cols; ++col) {
        bool broken = false;
        Cell cell = elementOf(
            *values, terms, row, col,
            [&](const TileValues &of, int64_t r, int64_t c) {
              FailureOr<Cell> leaf = leafOf(op, terms, of, accumulator, r, c);
              broken |= failed(leaf);
              return failed(leaf) ? Cell() : *leaf;
            });
        if (broken)
          return failure();
        if (!cell.isConcrete())
          return op.emitError() << "tile.put: writes an unspecified value";
        to.view->buffer
            ->cells[*to.view->elementAt(to.row + row, to.col + col)] = cell;
      }
    return success();
  };
  TileMachine machine(func, buffers, dims, programs, put);
  if (failed(machine.run()) || failed(coverage.finish(func, buffers)))
    return failure();
  if (fault)
    *fault = machine.hasFault();
  return outputsOf(tensors, buffers);
}
