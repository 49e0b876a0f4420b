// TileTrees.cpp - a tile kernel run on symbols, compared with a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Declared.h"
#include "compiler/Interpreter/TileCoverage.h"
#include "compiler/Interpreter/TileInterpreter.h"
#include "compiler/Interpreter/TreeReader.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

// Why four elements stand for a block. Operations of tile kernels name blocks
// and never elements. So element (i, j) of a put at (R, C) is written at
// (R + i, C + j), and is a sum of products of elements (A + i, k) and (B + j,
// k) of views, where A, B and k depend on the block alone. The contract wants
// rows R + i and C + j of its two tensors. Both are linear in i and in j with
// factors 0 or 1, so that agreement at (0, 0), (0, last) and (last, 0) is
// agreement at all; last rows and columns are those within the extents of the
// output, and what is within the extents of an operand's view there is so
// before them.

namespace {

constexpr size_t kMostDifferences = 4;
/// Leaves that the contract does not have are numbered from here.
constexpr int64_t kForeign = int64_t(1) << 40;

/// An element of a tensor; a null buffer is a zero beyond an extent.
using Element = std::pair<const Buffer *, int64_t>;
using Pair = std::pair<Element, Element>;

class TileComparison {
public:
  TileComparison(pact::ContractOp contract, pact::OperatorOp op,
                 tile::FuncOp func, const Dims &dims, int64_t programs)
      : contract(contract), op(op), func(func), dims(dims), programs(programs) {
  }

  FailureOr<TreeReport> run();

private:
  LogicalResult findDot();
  Buffer &addBuffer(StringRef tensor, pact::RealType type, bool isOutput);
  LogicalResult compare(tile::PutOp put, const TileValues &values,
                        const Window &to);
  bool compareElement(const TileValues &values, const Window &to, int64_t row,
                      int64_t col);
  algebra::TreeId treeOf(ArrayRef<TileProduct> products, int64_t row,
                         int64_t col);
  int64_t leafOf(const Pair &pair);
  Element wanted(int operand, int64_t k);
  Element found(const Window &window, int64_t row, int64_t k) const;
  std::string textOf(const Element &element) const;
  std::string signature(const TileValues &values, const Window &to);
  bool describe(const TileValues &values, const Window &to, std::string &text);

  pact::ContractOp contract;
  pact::OperatorOp op;
  tile::FuncOp func;
  const Dims &dims;
  int64_t programs;

  pact::ReduceOp reduce;
  pact::OutputOp output;
  pact::InputOp operands[2];
  int64_t extent = 0;
  std::map<std::string, Buffer> buffers;
  TermStore terms;
  std::shared_ptr<algebra::TreeStore> store =
      std::make_shared<algebra::TreeStore>();
  algebra::TreeId declared = 0;
  /// Of the element that is being compared.
  std::map<std::string, int64_t> index;
  std::map<Pair, int64_t> foreign;
  std::optional<std::string> firstForeign;
  std::optional<algebra::TreeId> computed;
  /// Blocks that were found to be right: what they are made of, relative to
  /// where they are put.
  std::set<std::string> right;
  TreeReport report;
};

/// Reads the contract and its operator, and nothing of how they are lowered.
LogicalResult TileComparison::findDot() {
  for (Operation &each : op.getBody().front()) {
    if (auto found = dyn_cast<pact::ReduceOp>(each);
        found && !reduce && found.getKind() == pact::ReduceKind::Dot)
      reduce = found;
    else if (auto found = dyn_cast<pact::OutputOp>(each); found && !output)
      output = found;
    else if (!isa<pact::InputOp>(each))
      return func.emitError() << "the interpreter of tiles does not know "
                              << each.getName() << " here";
  }
  if (!reduce || !output || output.getValue() != reduce.getResult())
    return func.emitError()
           << "the interpreter of tiles knows operators whose output is a dot";
  for (int i : {0, 1}) {
    operands[i] = reduce.getArgs()[i].getDefiningOp<pact::InputOp>();
    if (!operands[i])
      return func.emitError()
             << "the interpreter of tiles knows dots of two tensors";
  }
  return success();
}

Buffer &TileComparison::addBuffer(StringRef tensor, pact::RealType type,
                                  bool isOutput) {
  Buffer &buffer = buffers[tensor.str()];
  buffer.name = tensor.str();
  buffer.type =
      *scalarOf(cast<TypeAttr>(contract.getTypes().get(tensor)).getValue());
  buffer.isOutput = isOutput;
  int64_t count = 1;
  for (StringAttr dim : type.getDims()) {
    buffer.shape.push_back(dims.at(dim.str()));
    count *= buffer.shape.back();
  }
  buffer.strides = paddedStrides(buffer.shape, buffer.type, 1);
  buffer.cells.resize(size_t(count));
  return buffer;
}

/// The element that the contract wants at position k of the dot.
Element TileComparison::wanted(int operand, int64_t k) {
  pact::InputOp input = operands[operand];
  int64_t element = 0;
  for (StringAttr dim : input.getResult().getType().getDims())
    element = element * dims.at(dim.str()) +
              (dim == reduce.getOverAttr() ? k : index.at(dim.str()));
  return {&buffers.at(input.getTensor().str()), element};
}

Element TileComparison::found(const Window &window, int64_t row,
                              int64_t k) const {
  std::optional<int64_t> element =
      window.view->elementAt(window.row + row, window.col + k);
  return element ? Element{window.view->buffer, *element} : Element{nullptr, 0};
}

std::string TileComparison::textOf(const Element &element) const {
  if (!element.first)
    return "0";
  std::string text = element.first->name;
  if (element.second < 0)
    return text + "[outside]";
  std::string indices;
  int64_t rest = element.second;
  for (int64_t size : llvm::reverse(element.first->shape)) {
    indices =
        std::to_string(rest % size) + (indices.empty() ? "" : ", " + indices);
    rest /= size;
  }
  return text + "[" + indices + "]";
}

/// The position of a product in the contract's dot.
int64_t TileComparison::leafOf(const Pair &pair) {
  const Element &first = pair.first;
  const std::vector<int64_t> &shape =
      buffers.at(operands[0].getTensor().str()).shape;
  // Along the dot, elements of an operand lie side by side or rows apart; the
  // position is wherever both operands have what the contract wants.
  if (first.first && first.second >= 0)
    for (int64_t k : {first.second % shape.back(), first.second / shape.back()})
      if (k < extent && wanted(0, k) == first && wanted(1, k) == pair.second)
        return k;
  auto [at, isNew] =
      foreign.try_emplace(pair, kForeign + int64_t(foreign.size()));
  if (!firstForeign)
    firstForeign = textOf(pair.first) + " * " + textOf(pair.second);
  return at->second;
}

/// Products that are zero times zero on both sides are not there: this changes
/// no step of `dot.nv`, which sees a zero with an exponent below all that f32
/// keeps (tests/unit/interpreter/TileTest.cpp runs that), and no sum from +0 is
/// ever -0. Other atoms have no such promise, and a zero beside an element is a
/// term, for that element may be infinite.
algebra::TreeId TileComparison::treeOf(ArrayRef<TileProduct> products,
                                       int64_t row, int64_t col) {
  algebra::TreeId sum = store->identity();
  for (const TileProduct &product : products)
    for (int64_t k = 0; k < product.a.cols; k += product.atom.terms) {
      std::vector<algebra::TreeId> leaves;
      int64_t end = std::min(k + product.atom.terms, product.a.cols);
      for (int64_t i = k; i < end; ++i) {
        Element a = found(product.a, row, i), b = found(product.b, col, i);
        if (!a.first && !b.first && product.atom.family == "dot.nv")
          continue;
        // Products commute.
        if (a.first != &buffers.at(operands[0].getTensor().str()))
          std::swap(a, b);
        leaves.push_back(store->leaf(leafOf({a, b})));
      }
      if (!leaves.empty())
        sum = store->fused(product.atom, sum, leaves);
    }
  return sum;
}

/// Empty unless the block's operands are the contract's tensors, at the rows
/// and columns at which the block is put: then what it says is all that trees
/// of its elements depend on.
std::string TileComparison::signature(const TileValues &values,
                                      const Window &to) {
  std::string text;
  return describe(values, to, text) ? text : "";
}

bool TileComparison::describe(const TileValues &values, const Window &to,
                              std::string &text) {
  text += llvm::formatv("map {0} {1}x{2} of ", values.map.getAsOpaquePointer(),
                        std::min(to.rows, to.view->rows - to.row),
                        std::min(to.cols, to.view->cols - to.col));
  for (const auto &from : values.from)
    if (!describe(*from, to, text))
      return false;
  for (const TileProduct &product : values.products) {
    auto isOwn = [&](const Window &window, int operand, int64_t first,
                     int64_t rows) {
      return window.view->buffer ==
                 &buffers.at(operands[operand].getTensor().str()) &&
             window.row == first && window.view->rows >= rows &&
             window.view->cols == extent &&
             window.view->stride == window.view->buffer->strides.front();
    };
    if (!isOwn(product.a, 0, to.row, to.view->rows) ||
        !isOwn(product.b, 1, to.col, to.view->cols))
      return false;
    text += llvm::formatv("{0} {1} {2} {3}; ", product.a.col, product.b.col,
                          product.a.cols, product.atom.text());
  }
  return true;
}

bool TileComparison::compareElement(const TileValues &values, const Window &to,
                                    int64_t row, int64_t col) {
  auto resultDims = cast<pact::RealType>(output.getValue().getType()).getDims();
  int64_t element = *to.view->elementAt(to.row + row, to.col + col);
  index[resultDims[1].str()] = element % to.view->buffer->shape[1];
  index[resultDims[0].str()] = element / to.view->buffer->shape[1];
  foreign.clear();
  firstForeign.reset();
  auto holeOf = [&](algebra::TreeId tree) {
    return terms.hole(int(tree), Scalar::F32);
  };
  std::optional<algebra::TreeId> tree;
  Cell cell = elementOf(values, terms, [&](ArrayRef<TileProduct> products) {
    tree = treeOf(products, row, col);
    return Cell::symbol(holeOf(*tree));
  });
  Scalar format = to.view->buffer->type;
  TermId expected = terms.apply({interpreter::Op::Narrow, format, format},
                                {convert(terms, holeOf(declared), format)});
  if (!computed)
    computed = tree;
  if (cell.isSymbolic() && cell.term == expected)
    return true;
  std::string where = llvm::formatv("element [{0}, {1}] of '{2}'", to.row + row,
                                    to.col + col, to.view->buffer->name);
  std::string text;
  if (tree && *tree != declared) {
    computed = tree;
    auto [a, b] = firstDifference(*store, declared, *tree);
    text = llvm::formatv(
        "node '{0}', {1}, extent {2}: the kernel's tree is not the contract's; "
        "where they first differ the contract has {3} and the kernel has {4}",
        reduce.getNode(), where, extent, briefText(*store, a),
        briefText(*store, b));
    std::vector<int64_t> has = store->leaves(declared),
                         found = store->leaves(*tree), missing;
    std::set_difference(has.begin(), has.end(), found.begin(), found.end(),
                        std::back_inserter(missing));
    if (firstForeign)
      text += "; of " + *firstForeign + " the contract has nothing there";
    else if (!missing.empty())
      text += llvm::formatv("; x{0} and {1} more are missing", missing.front(),
                            missing.size() - 1);
  } else {
    text = llvm::formatv(
        "{0}: the contract has {1} of the sum and the kernel has {2}", where,
        terms.text(expected),
        cell.isUnspecified() ? "nothing that is specified"
                             : terms.text(terms.termOf(cell, format)));
  }
  report.differences.push_back(text);
  return false;
}

LogicalResult TileComparison::compare(tile::PutOp put, const TileValues &values,
                                      const Window &to) {
  int64_t rows = std::min(to.rows, to.view->rows - to.row),
          cols = std::min(to.cols, to.view->cols - to.col);
  if (rows <= 0 || cols <= 0 || report.differences.size() >= kMostDifferences)
    return success();
  std::string key = signature(values, to);
  if (!key.empty() && right.count(key))
    return success();
  bool same = true;
  std::set<std::pair<int64_t, int64_t>> corners = {
      {0, 0}, {0, cols - 1}, {rows - 1, 0}, {rows - 1, cols - 1}};
  for (auto [row, col] : corners)
    same = same && compareElement(values, to, row, col);
  if (same && !key.empty())
    right.insert(key);
  return success();
}

FailureOr<TreeReport> TileComparison::run() {
  if (failed(findDot()))
    return failure();
  extent = dims.at(reduce.getOver().str());
  for (pact::InputOp input : op.getOps<pact::InputOp>())
    addBuffer(input.getTensor(), input.getResult().getType(), false);
  addBuffer(output.getTensor(),
            cast<pact::RealType>(output.getValue().getType()), true);
  auto attr = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
  algebra::Reduction reduction{attr.getPartition().getValue(),
                               attr.getMerge().getValue()};
  reduction.kind = algebra::ReductionKind::Dot;
  reduction.start = attr.getStart();
  reduction.accumulator =
      interpreter::formatOf(*scalarOf(attr.getAccumulator()));
  std::optional<algebra::TreeId> tree =
      algebra::buildTree(*store, reduction, {attr.extentOf(extent), {}, {}});
  if (!tree)
    return func.emitError() << "the contract's dot has no element";
  declared = *tree;
  TileCoverage coverage;
  auto put = [&](tile::PutOp op,
                 const std::shared_ptr<const TileValues> &values,
                 const Window &to) -> LogicalResult {
    if (failed(coverage.add(op, to)))
      return failure();
    return compare(op, *values, to);
  };
  if (failed(TileMachine(func, buffers, dims, programs, put).run()) ||
      failed(coverage.finish(func, buffers)))
    return failure();
  report.trees.push_back(
      {reduce.getNode().str(), 0, store, declared, computed});
  return std::move(report);
}

} // namespace

FailureOr<TreeReport> interpreter::interpretTrees(pact::ContractOp contract,
                                                  pact::OperatorOp op,
                                                  tile::FuncOp func,
                                                  const Dims &dims,
                                                  int64_t programs) {
  return TileComparison(contract, op, func, dims, programs).run();
}
