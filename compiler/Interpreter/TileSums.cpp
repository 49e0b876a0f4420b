// TileSums.cpp - trees of the sums of tile kernels, against a contract's dot
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/TileSums.h"

#include "compiler/Interpreter/Segments.h"
#include "compiler/Interpreter/TreeReader.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

namespace {

/// Leaves that the contract does not have are numbered from here.
constexpr int64_t kForeign = int64_t(1) << 40;

using Element = std::pair<const Buffer *, int64_t>;

Element found(const Window &window, int64_t row, int64_t k) {
  // Of a row that was not copied nothing is known, not even that it exists.
  if (!window.holds(row))
    return Element{window.view->buffer, -1};
  std::optional<int64_t> element =
      window.view->elementAt(window.row + row, window.col + k, window.matrix);
  return element ? Element{window.view->buffer, *element} : Element{nullptr, 0};
}

std::string textOf(const Element &element) {
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

} // namespace

LogicalResult TileSums::declare(tile::FuncOp func) {
  for (int i : {0, 1}) {
    Value operand = reduce.getArgs()[i];
    takes[i] = operand.getDefiningOp<pact::TakeOp>();
    if (takes[i])
      operand = takes[i].getOperand();
    operands[i] = operand.getDefiningOp<pact::InputOp>();
    if (!operands[i] ||
        (takes[i] && !takes[i].getIndex().getDefiningOp<pact::SegmentOp>()))
      return func.emitError() << "the interpreter of tiles knows dots of two "
                                 "tensors, or of what segments take of them";
    wants[i].buffer = &buffers.at(operands[i].getTensor().str());
  }
  extent = dims.at(reduce.getOver().str());
  auto attr = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
  algebra::Reduction reduction{attr.getPartition().getValue(),
                               attr.getMerge().getValue()};
  reduction.kind = algebra::ReductionKind::Dot;
  reduction.start = attr.getStart();
  accumulator = *scalarOf(attr.getAccumulator());
  reduction.accumulator = interpreter::formatOf(accumulator);
  std::optional<algebra::TreeId> tree =
      algebra::buildTree(*store, reduction, {attr.extentOf(extent), {}, {}});
  if (!tree)
    return func.emitError() << "the contract's dot has no element";
  declared = *tree;
  return success();
}

void TileSums::setElement(const std::map<std::string, int64_t> &indices) {
  std::map<std::string, int64_t> index = indices;
  absent = false;
  for (int i : {0, 1})
    if (takes[i]) {
      auto segment = takes[i].getIndex().getDefiningOp<pact::SegmentOp>();
      int64_t matrix = matrixOf(i, index.at(segment.getOver().str()));
      absent |= matrix < 0;
      index[takes[i].getOver().str()] = matrix;
    }
  for (int i : {0, 1}) {
    wants[i].first = wants[i].step = 0;
    for (StringAttr dim : operands[i].getResult().getType().getDims()) {
      int64_t size = dims.at(dim.str());
      wants[i].first *= size;
      wants[i].step *= size;
      if (dim == reduce.getOverAttr())
        wants[i].step += 1;
      else
        wants[i].first += index.at(dim.str());
    }
  }
  foreign.clear();
  firstForeign.reset();
}

int64_t TileSums::matrixOf(int operand, int64_t row) const {
  auto segment = takes[operand].getIndex().getDefiningOp<pact::SegmentOp>();
  auto offsets = segment.getOffsets().getDefiningOp<pact::InputOp>();
  int64_t matrix = segmentOf(buffers.at(offsets.getTensor().str()),
                             dims.at(segment.getOver().str()), row);
  return matrix < dims.at(takes[operand].getOver().str()) ? matrix : -1;
}

/// The element that the contract wants at position k of the dot.
TileSums::Element TileSums::wanted(int operand, int64_t k) const {
  const Wanted &from = wants[operand];
  return {from.buffer, from.first + k * from.step};
}

/// The position of a product in the contract's dot.
int64_t TileSums::leafOf(const Pair &pair) {
  const Element &first = pair.first;
  const std::vector<int64_t> &shape = operand(0).shape;
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

/// Whether a product of two zeros beyond the extents changes no sum: for
/// `dot.nv`, which sees a zero with an exponent below all that f32 keeps, and
/// for `dot.cdna3` beside others (tests/unit/interpreter/TileTest.cpp runs
/// both), and for an fma where it is -0. A zero beside an element is a term,
/// for that element may be infinite.
static bool isNothing(const TileProduct &product) {
  if (product.atom.terms == 1)
    return product.a.negative != product.b.negative;
  return product.atom.family == "dot.nv" || product.atom.family == "dot.cdna3";
}

algebra::TreeId TileSums::treeOf(const TileValues &values, int64_t row,
                                       int64_t col) {
  std::optional<algebra::TreeId> sum;
  if (!values.first)
    sum = store->identity();
  for (const TileProduct &product : values.products) {
    if (product.chain) {
      sum = chainOf(sum, product, row, col);
      continue;
    }
    int64_t depth = product.depth();
    for (int64_t k = 0; k < depth; k += product.atom.terms) {
      std::vector<algebra::TreeId> leaves;
      int64_t end = std::min(k + product.atom.terms, depth);
      for (int64_t i = k; i < end; ++i) {
        Element a = found(product.a, row, i), b = found(product.b, col, i);
        if (!a.first && !b.first && isNothing(product))
          continue;
        // Products commute.
        if (a.first != &operand(0))
          std::swap(a, b);
        leaves.push_back(store->leaf(leafOf({a, b})));
      }
      // A step of nothing still is one, except that no sum of `dot.nv` is -0,
      // which is all that it would change.
      algebra::TreeId before = sum.value_or(store->identity());
      if (product.atom.terms == 1 && !leaves.empty())
        sum = store->step(before, leaves.front());
      else if (product.atom.terms > 1 &&
               (!leaves.empty() || product.atom.family != "dot.nv"))
        sum = store->fused(product.atom, before, leaves);
    }
  }
  return sum.value_or(store->identity());
}

/// Steps of a primitive, one element each. A step that is not the contract's
/// takes elements that the contract does not have.
std::optional<algebra::TreeId>
TileSums::chainOf(std::optional<algebra::TreeId> sum,
                        const TileProduct &product, int64_t row, int64_t col) {
  bool known = isStep(product.chain);
  if (!known && !firstForeign)
    firstForeign = "a step that is not the contract's";
  for (int64_t k = 0; k < product.depth(); ++k) {
    int64_t position =
        leafOf({found(product.a, row, k), found(product.b, col, k)});
    algebra::TreeId leaf = store->leaf(known ? position : kForeign + position);
    sum = sum ? store->step(*sum, leaf) : store->first(leaf);
  }
  return sum;
}

/// Whether the region computes, of any two elements and any sum, what the
/// contract's step primitive does.
bool TileSums::isStep(tile::ChainOp chain) {
  auto [at, isNew] = steps.try_emplace(chain, false);
  if (!isNew)
    return at->second;
  auto step = SymbolTable::lookupNearestSymbolFrom<pact::PrimitiveOp>(
      contract, contract.getPrimitives().getAs<FlatSymbolRefAttr>(
                    (reduce.getNode() + ".step").str()));
  if (!step)
    return false;
  mlir::Block &body = chain.getBody().front();
  std::vector<Cell> cells;
  SmallVector<TermId> arguments;
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    // Holes are numbered by trees elsewhere.
    TermId hole = terms.hole(-1 - int(i), *scalarOf(argument.getType()));
    cells.push_back(Cell::symbol(hole));
    arguments.push_back(
        convert(terms, hole, *scalarOf(step.getFunctionType().getInput(i))));
  }
  Cell got = yielded(body, cells, terms);
  return at->second = got.isSymbolic() &&
                      got.term == applyPrimitive(terms, step, arguments);
}

TermId TileSums::termOf(algebra::TreeId tree, HoleOf holeOf) const {
  const algebra::TreeNode &node = store->node(tree);
  switch (node.kind) {
  case algebra::TreeKind::Merge:
    return terms.apply({Op::Add, accumulator, accumulator},
                       {termOf(node.children[0], holeOf),
                        termOf(node.children[1], holeOf)});
  case algebra::TreeKind::Round:
    return convert(terms,
                   convert(terms, termOf(node.children[0], holeOf),
                           scalarOf(node.format)),
                   accumulator);
  default:
    return holeOf(tree);
  }
}

std::vector<algebra::TreeId> TileSums::chains() const {
  std::vector<algebra::TreeId> open = {declared}, found;
  while (!open.empty()) {
    algebra::TreeId tree = open.back();
    open.pop_back();
    const algebra::TreeNode &node = store->node(tree);
    if (node.kind == algebra::TreeKind::Merge ||
        node.kind == algebra::TreeKind::Round)
      open.insert(open.end(), node.children.begin(), node.children.end());
    else
      found.push_back(tree);
  }
  return found;
}

bool TileSums::isDeclared(algebra::TreeId tree) const {
  return llvm::is_contained(chains(), tree);
}

std::string TileSums::difference(algebra::TreeId found,
                                 const std::string &where) const {
  // With that chain of the contract that has the same first element.
  algebra::TreeId declared = this->declared;
  std::vector<int64_t> own = store->leaves(found);
  for (algebra::TreeId chain : chains())
    if (!own.empty() && llvm::is_contained(store->leaves(chain), own.front()))
      declared = chain;
  auto [a, b] = firstDifference(*store, declared, found);
  std::string text = llvm::formatv(
      "node '{0}', {1}, extent {2}: the kernel's tree is not the contract's; "
      "where they first differ the contract has {3} and the kernel has {4}",
      reduce.getNode(), where, extent, briefText(*store, a),
      briefText(*store, b));
  std::vector<int64_t> has = store->leaves(declared),
                       those = store->leaves(found), missing;
  std::set_difference(has.begin(), has.end(), those.begin(), those.end(),
                      std::back_inserter(missing));
  if (firstForeign)
    text += "; of " + *firstForeign + " the contract has nothing there";
  else if (!missing.empty())
    text += llvm::formatv("; x{0} and {1} more are missing", missing.front(),
                          missing.size() - 1);
  return text;
}

bool TileSums::areOwn(const TileValues &values) const {
  return llvm::all_of(values.products, [&](const TileProduct &product) {
    return product.a.view->buffer == &operand(0) &&
           product.b.view->buffer == &operand(1);
  });
}

bool TileSums::describe(const TileValues &values, const Window &to,
                        std::string &text) const {
  auto isOwn = [&](const Window &window, int number, int64_t first,
                   int64_t rows) {
    const TileView &view = *window.view;
    const std::vector<int64_t> &strides = view.buffer->strides;
    bool isStack = strides.size() == 3;
    // Rows of one segment take one matrix: see TileTrees.cpp.
    int64_t last = to.row + std::min(to.rows, to.view->rows - to.row) - 1;
    if (isStack && (!takes[number] || view.apart != strides.front() ||
                    window.matrix != matrixOf(number, to.row) ||
                    window.matrix != matrixOf(number, last)))
      return false;
    return view.buffer == &operand(number) && window.row == first &&
           view.rows >= rows && view.cols == extent &&
           view.rowStride == strides[isStack] && view.colStride == 1 &&
           window.holds(std::min(window.rows, rows - first) - 1);
  };
  if (values.absent)
    return false;
  text += values.first ? "first " : "";
  for (const TileProduct &product : values.products) {
    if (!isOwn(product.a, 0, to.row, std::min(to.view->rows, to.row + to.rows)) ||
        !isOwn(product.b, 1, to.col, to.view->cols))
      return false;
    text += llvm::formatv("{0} {1} {2} {3} {4} ", product.a.col, product.b.col,
                          product.depth(), product.a.negative,
                          product.b.negative);
    text += product.chain
                ? llvm::formatv("{0}; ", product.chain.getAsOpaquePointer())
                      .str()
                : product.atom.text() + "; ";
  }
  return true;
}
