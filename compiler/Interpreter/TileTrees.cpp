// TileTrees.cpp - a tile kernel run on symbols, compared with a contract
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Declared.h"
#include "compiler/Interpreter/Segments.h"
#include "compiler/Interpreter/TileCoverage.h"
#include "compiler/Interpreter/TileInterpreter.h"
#include "compiler/Interpreter/TileSums.h"

#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

// Why four elements stand for a block. Operations of tile kernels name blocks
// and never elements. So element (i, j) of a put at (R, C) is written at
// (R + i, C + j), and is made of a sum of products of elements (A + i, k) and
// (B + j, k) of views and of elements (D + i, E + j) of others, where A, B, k,
// D and E depend on the block alone. The contract wants rows R + i and columns
// C + j of its tensors. All are linear in i and in j with factors 0 or 1, so
// that agreement at (0, 0), (0, last) and (last, 0) is agreement at all; last
// rows and columns are those within the extents of the output, and what is
// within the extents of another view there is so before them.
//
// Columns that a unit takes of what others brought are that many columns further
// on in what these computed, which is linear too; rows that were not brought are
// not specified.
//
// Where rows take matrices of a stack, row R + i takes that of its segment, and
// a block has one matrix. Segments ascend with the rows, so that the first and
// the last row of a put are of one segment only if all are; where offsets are
// bad, no row has a matrix.

namespace {

constexpr size_t kMostDifferences = 4;

using Nodes = std::vector<std::unique_ptr<TileSums>>;

/// Sums of a node, as a hole: nodes whose trees are alike are told apart.
TermId holeOf(TermStore &terms, const Nodes &nodes, size_t number,
              algebra::TreeId tree) {
  return terms.hole(int(size_t(tree) * nodes.size() + number),
                    nodes[number]->accumulator);
}

/// What a contract declares for an element of the output, which stands for its
/// row; chains of the sum of a node are holes of the numbers of their trees.
class DeclaredElement : public Declared {
public:
  DeclaredElement(pact::ContractOp contract, pact::OperatorOp op,
                  ArrayRef<StringAttr> resultDims, const Dims &dims,
                  const std::map<std::string, Buffer> &buffers,
                  TermStore &terms, const Nodes &nodes)
      : Declared(contract, op, /*extent=*/0, buffers, terms), nodes(nodes),
        rowDim(resultDims[0]), cols(dims.at(resultDims[1].str())) {}

private:
  TermId reduce(pact::ReduceOp op, int64_t) override {
    size_t number = 0;
    while (nodes[number]->node() != op.getNode())
      ++number;
    if (nodes[number]->isAbsent())
      return terms.constant(nodes[number]->accumulator,
                            notANumber(nodes[number]->accumulator));
    return nodes[number]->declaredTerm([&](algebra::TreeId tree) {
      return holeOf(terms, nodes, number, tree);
    });
  }
  TermId load(pact::InputOp input, int64_t element, int64_t) override {
    auto found = buffers.find(input.getTensor().str());
    auto dims = input.getResult().getType().getDims();
    int64_t at = dims.size() == 2         ? element
                 : dims.front() == rowDim ? element / cols
                                          : element % cols;
    return terms.element(int(std::distance(buffers.begin(), found)), at,
                         found->second.type);
  }

  const Nodes &nodes;
  StringAttr rowDim;
  int64_t cols;
};

class TileComparison {
public:
  TileComparison(pact::ContractOp contract, pact::OperatorOp op,
                 tile::FuncOp func, const Dims &dims, int64_t programs,
                 const std::vector<int64_t> &offsets)
      : contract(contract), op(op), func(func), dims(dims), programs(programs),
        offsets(offsets) {}

  FailureOr<TreeReport> run();

private:
  LogicalResult findDots();
  void addBuffer(StringRef tensor, pact::RealType type, bool isOutput);
  LogicalResult compare(tile::PutOp put, const TileValues &values,
                        const Window &to);
  bool compareElement(const TileValues &values, const Window &to, int64_t row,
                      int64_t col);
  Cell loaded(const Window &window, int64_t row, int64_t col);
  size_t nodeOf(const TileValues &values) const;
  bool anyAbsent();
  bool describe(const TileValues &values, const Window &to, std::string &text);

  pact::ContractOp contract;
  pact::OperatorOp op;
  tile::FuncOp func;
  const Dims &dims;
  int64_t programs;
  const std::vector<int64_t> &offsets;

  pact::OutputOp output;
  std::map<std::string, Buffer> buffers;
  TermStore terms;
  /// In the operator's order, and the tree that the kernel has for each.
  Nodes nodes;
  std::vector<std::optional<algebra::TreeId>> computed;
  std::optional<DeclaredElement> declared;
  /// Blocks that were found to be right: what they are made of, relative to
  /// where they are put.
  std::set<std::string> right;
  TreeReport report;
};

LogicalResult TileComparison::findDots() {
  auto reduces = op.getOps<pact::ReduceOp>();
  auto outputs = op.getOps<pact::OutputOp>();
  auto isDot = [](pact::ReduceOp each) {
    return each.getKind() == pact::ReduceKind::Dot;
  };
  if (reduces.empty() || !llvm::hasSingleElement(outputs) ||
      !llvm::all_of(reduces, isDot) || !op.getOps<pact::IndexOp>().empty())
    return func.emitError() << "the interpreter of tiles knows operators with "
                               "dots and one output";
  output = *outputs.begin();
  auto dimsOf = [](Value f) {
    return cast<pact::RealType>(f.getType()).getDims();
  };
  ArrayRef<StringAttr> resultDims = dimsOf(output.getValue());
  for (pact::ReduceOp each : reduces)
    if (dimsOf(each.getResult()) != resultDims || resultDims.size() != 2)
      return func.emitError() << "the interpreter of tiles knows outputs with "
                                 "the dims of their dots, which are two";
  for (pact::InputOp input : op.getOps<pact::InputOp>()) {
    ArrayRef<StringAttr> own = dimsOf(input.getResult());
    bool isOperand = llvm::any_of(reduces, [&](pact::ReduceOp each) {
      return llvm::is_contained(each.getArgs(), input.getResult());
    });
    isOperand |= llvm::any_of(input->getUsers(),
                              llvm::IsaPred<pact::TakeOp, pact::SegmentOp>);
    if (!isOperand && own != resultDims && own != resultDims.take_front() &&
        own != resultDims.drop_front())
      return func.emitError() << "the interpreter of tiles does not know the "
                                 "dims of tensor '"
                              << input.getTensor() << "'";
    addBuffer(input.getTensor(), input.getResult().getType(), false);
  }
  addBuffer(output.getTensor(),
            cast<pact::RealType>(output.getValue().getType()), true);
  for (pact::SegmentOp segment : op.getOps<pact::SegmentOp>()) {
    auto input = segment.getOffsets().getDefiningOp<pact::InputOp>();
    Buffer &buffer = buffers.at(input.getTensor().str());
    if (buffer.shape.front() != int64_t(offsets.size()))
      return func.emitError() << offsets.size() << " offsets are given for the "
                              << buffer.shape.front() << " of '" << buffer.name
                              << "'";
    for (int64_t offset : offsets)
      buffer.cells.push_back(Cell::of(uint32_t(offset)));
  }
  for (const auto &[name, buffer] : buffers)
    terms.tensors.push_back(name);
  for (pact::ReduceOp each : reduces) {
    nodes.push_back(
        std::make_unique<TileSums>(contract, each, dims, buffers, terms));
    if (failed(nodes.back()->declare(func)))
      return failure();
  }
  computed.resize(nodes.size());
  declared.emplace(contract, op, resultDims, dims, buffers, terms, nodes);
  return success();
}

/// Whether a row takes a matrix that is not there.
bool TileComparison::anyAbsent() {
  auto resultDims = cast<pact::RealType>(output.getValue().getType()).getDims();
  for (int64_t row = 0; row < dims.at(resultDims[0].str()); ++row)
    for (auto &node : nodes) {
      node->setElement({{resultDims[0].str(), row}, {resultDims[1].str(), 0}});
      if (node->isAbsent())
        return true;
    }
  return false;
}

/// The node whose tensors sums are of; those of none are compared with the
/// first.
size_t TileComparison::nodeOf(const TileValues &values) const {
  auto own = llvm::find_if(
      nodes, [&](const auto &each) { return each->areOwn(values); });
  return own == nodes.end() ? 0 : size_t(own - nodes.begin());
}

void TileComparison::addBuffer(StringRef tensor, pact::RealType type,
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
  // Elements of inputs are symbols wherever they are read.
  if (isOutput)
    buffer.cells.resize(size_t(count));
}

/// What is outside of a tensor is not specified.
Cell TileComparison::loaded(const Window &window, int64_t row, int64_t col) {
  std::optional<int64_t> element =
      window.view->elementAt(window.row + row, window.col + col);
  if (!element)
    return Cell::of(0);
  if (*element < 0)
    return Cell();
  auto found = buffers.find(window.view->buffer->name);
  return Cell::symbol(terms.element(int(std::distance(buffers.begin(), found)),
                                    *element, found->second.type));
}

/// False unless the block's operands are at the rows and columns at which it is
/// put: then `text` says all that its elements depend on.
bool TileComparison::describe(const TileValues &values, const Window &to,
                              std::string &text) {
  // Columns of a block lie further on than the block.
  if (values.brought) {
    Window block = to;
    block.col -= values.brought->left;
    text += llvm::formatv("from {0} ", values.brought->left);
    return std::min(to.rows, to.view->rows - to.row) <= values.brought->rows &&
           describe(*values.from.front(), block, text);
  }
  text += llvm::formatv("map {0} {1}x{2} of ", values.map.getAsOpaquePointer(),
                        std::min(to.rows, to.view->rows - to.row),
                        std::min(to.cols, to.view->cols - to.col));
  for (const auto &from : values.from)
    if (!describe(*from, to, text))
      return false;
  if (const std::optional<Window> &from = values.loaded) {
    const TileView &view = *from->view;
    text += llvm::formatv("{0} by {1} {2}; ", view.buffer->name, view.rowStride,
                          view.colStride);
    if (from->row != to.row || from->col != to.col ||
        view.rows < to.view->rows || view.cols < to.view->cols)
      return false;
  }
  if (values.map || values.loaded)
    return true;
  size_t node = nodeOf(values);
  text += llvm::formatv("node {0} ", node);
  return nodes[node]->describe(values, to, text);
}

bool TileComparison::compareElement(const TileValues &values, const Window &to,
                                    int64_t row, int64_t col) {
  auto resultDims = cast<pact::RealType>(output.getValue().getType()).getDims();
  int64_t element = *to.view->elementAt(to.row + row, to.col + col);
  int64_t cols = to.view->buffer->shape[1];
  for (auto &node : nodes)
    node->setElement({{resultDims[0].str(), element / cols},
                      {resultDims[1].str(), element % cols}});
  // Of each node a chain that the contract does not have, if there is one.
  std::vector<std::optional<algebra::TreeId>> others(nodes.size());
  Cell cell = elementOf(values, terms, row, col,
                        [&](const TileValues &leaf, int64_t row, int64_t col) {
    if (leaf.loaded)
      return loaded(*leaf.loaded, row, col);
    size_t number = nodeOf(leaf);
    if (leaf.absent)
      return Cell::of(notANumber(nodes[number]->accumulator));
    algebra::TreeId tree = nodes[number]->treeOf(leaf, row, col);
    if (!others[number] && !nodes[number]->isDeclared(tree))
      others[number] = tree;
    return Cell::symbol(holeOf(terms, nodes, number, tree));
  });
  TermId expected = declared->output(output, element, -1);
  if (!cell.isUnspecified() &&
      terms.termOf(cell, to.view->buffer->type) == expected) {
    for (auto [known, node] : llvm::zip(computed, nodes))
      if (!known)
        known = node->declared;
    return true;
  }
  std::string where = llvm::formatv("element [{0}, {1}] of '{2}'", to.row + row,
                                    to.col + col, to.view->buffer->name);
  for (auto [i, tree] : llvm::enumerate(others))
    if (tree) {
      computed[i] = tree;
      report.differences.push_back(nodes[i]->difference(*tree, where));
      return false;
    }
  report.differences.push_back(llvm::formatv(
      "{0}: the contract has {1} and the kernel has {2}", where,
      terms.text(expected),
      cell.isUnspecified()
          ? "nothing that is specified"
          : terms.text(terms.termOf(cell, to.view->buffer->type))));
  return false;
}

LogicalResult TileComparison::compare(tile::PutOp put, const TileValues &values,
                                      const Window &to) {
  int64_t rows = std::min(to.rows, to.view->rows - to.row),
          cols = std::min(to.cols, to.view->cols - to.col);
  if (rows <= 0 || cols <= 0 || report.differences.size() >= kMostDifferences)
    return success();
  std::string key;
  bool isKnown = describe(values, to, key);
  if (isKnown && right.count(key))
    return success();
  bool same = true;
  std::set<std::pair<int64_t, int64_t>> corners = {
      {0, 0}, {0, cols - 1}, {rows - 1, 0}, {rows - 1, cols - 1}};
  for (auto [row, col] : corners)
    same = same && compareElement(values, to, row, col);
  if (same && isKnown)
    right.insert(key);
  return success();
}

FailureOr<TreeReport> TileComparison::run() {
  if (failed(findDots()))
    return failure();
  TileCoverage coverage;
  auto put = [&](tile::PutOp op,
                 const std::shared_ptr<const TileValues> &values,
                 const Window &to) -> LogicalResult {
    if (failed(coverage.add(op, to)))
      return failure();
    return compare(op, *values, to);
  };
  TileMachine machine(func, buffers, dims, programs, put);
  if (failed(machine.run()) || failed(coverage.finish(func, buffers)))
    return failure();
  bool isAbsent = anyAbsent();
  if (isAbsent && !machine.hasFault())
    report.differences.push_back("rows take what is not there, and the kernel "
                                 "does not set the fault word");
  if (!isAbsent && machine.hasFault())
    report.differences.push_back("all rows take what is there, and the kernel "
                                 "sets the fault word");
  for (auto [node, tree] : llvm::zip(nodes, computed))
    report.trees.push_back(
        {node->node().str(), 0, node->store, node->declared, tree});
  return std::move(report);
}

} // namespace

FailureOr<TreeReport> interpreter::interpretTrees(pact::ContractOp contract,
                                                  pact::OperatorOp op,
                                                  tile::FuncOp func,
                                                  const Dims &dims,
                                                  int64_t programs,
                                                  const std::vector<int64_t>
                                                      &offsets) {
  return TileComparison(contract, op, func, dims, programs, offsets).run();
}
