// Trees.cpp - a kernel run on symbols, compared with what a contract declares
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Agreement.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/Steps.h"
#include "compiler/Interpreter/TreeReader.h"

#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::interpreter;

namespace {

constexpr size_t kMostDifferences = 4;

class Comparison {
public:
  Comparison(pact::ContractOp contract, pact::OperatorOp op,
             ArrayRef<kernel::FuncOp> steps, int64_t extent, int64_t rows,
             std::vector<int64_t> offsets, std::vector<int64_t> indices)
      : contract(contract), op(op), steps(steps), extent(extent), rows(rows),
        offsets(std::move(offsets)), indices(std::move(indices)) {}

  FailureOr<TreeReport> run();
  /// Whether nothing differs, primitives being compared as wholes and
  /// positions left out; says nothing.
  bool agrees(LeftOut &out);

private:
  int64_t sizeOf(StringAttr dim) const {
    return dim == reduced      ? extent
           : dim == offsetsDim ? int64_t(offsets.size())
                               : rows;
  }
  void findOffsets();
  void addBuffer(StringRef tensor, pact::RealType type, bool isOutput);
  void addIndex(pact::IndexOp index);
  /// Every element of the outputs: what is declared, and what is there.
  LogicalResult
  forEachElement(Declared &declared,
                 llvm::function_ref<LogicalResult(pact::OutputOp, int64_t,
                                                  int64_t, TermId, TermId)>
                     see);
  void prepare();
  Dims dims() const;
  bool sameSets(TermId expected, TermId actual);
  void compare(pact::OutputOp output, int64_t row, int64_t position,
               TermId expected, TermId actual);
  bool hasOpenOrder() const {
    return llvm::any_of(
        *nodes, [](const NodeTerms &node) { return node.hasOpenOrder; });
  }
  /// Some node's maximum runs; then maxima are sets everywhere.
  bool isOnline() const {
    return llvm::any_of(*nodes,
                        [](const NodeTerms &node) { return node.isOnline; });
  }
  void locate(TermId expected, TermId actual);
  std::optional<size_t> lostNode(TermId expected, TermId actual);
  void readTrees();

  pact::ContractOp contract;
  pact::OperatorOp op;
  ArrayRef<kernel::FuncOp> steps;
  int64_t extent, rows;
  LeftOut leftOut;
  std::vector<int64_t> offsets, indices;
  /// The dim of the tensor that has them.
  StringAttr offsetsDim;
  StringAttr reduced;
  TermStore terms;
  std::map<std::string, Buffer> buffers;
  std::vector<NodeTerms> *nodes = nullptr;
  /// What stands in the kernel's terms where a node's result should.
  std::vector<std::optional<TermId>> computed;
  /// The innermost node in which the last located difference lies, and the
  /// differing terms.
  std::optional<size_t> inNode;
  std::set<size_t> lostNodes;
  TermId at[2];
  TreeReport report;
};

void Comparison::findOffsets() {
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>()) {
    auto node = cast<pact::NodeAttr>(contract.getNodes().get(reduce.getNode()));
    for (pact::InputOp input : op.getOps<pact::InputOp>())
      if (node.getOffsets() && input.getTensorAttr() == node.getOffsets() &&
          !input.getResult().getType().getDims().empty())
        offsetsDim = input.getResult().getType().getDims().front();
  }
  if (offsetsDim && offsets.empty())
    offsets = {0, extent};
}

void Comparison::addBuffer(StringRef tensor, pact::RealType type,
                           bool isOutput) {
  Buffer &buffer = buffers[tensor.str()];
  buffer.name = tensor.str();
  buffer.type =
      *scalarOf(cast<TypeAttr>(contract.getTypes().get(tensor)).getValue());
  buffer.isOutput = isOutput;
  int64_t count = 1;
  for (StringAttr dim : type.getDims()) {
    if (dim == reduced && leftOut.length) {
      buffer.reducedAxis = int(buffer.shape.size());
      buffer.leftOut = leftOut;
    }
    buffer.shape.push_back(sizeOf(dim));
    count *= buffer.present(buffer.shape.size() - 1);
  }
  buffer.strides =
      paddedStrides(buffer.shape, buffer.type, alignmentOf(steps, tensor));
  buffer.cells.resize(size_t(count));
}

void Comparison::addIndex(pact::IndexOp index) {
  addBuffer(index.getTensor(), index.getResult().getType(), false);
  Buffer &buffer = buffers[index.getTensor().str()];
  uint64_t mask = ~uint64_t(0) >> (64 - widthOf(buffer.type));
  for (auto [i, cell] : llvm::enumerate(buffer.cells)) {
    int64_t position =
        indices.empty() ? extent - 1 : indices[i % indices.size()];
    cell = Cell::of(uint64_t(position) & mask);
  }
}

/// Goes down while the two terms differ in one operand, and notes the nodes
/// that it passes.
void Comparison::locate(TermId expected, TermId actual) {
  inNode.reset();
  while (true) {
    for (auto [i, node] : llvm::enumerate(*nodes))
      if (node.result == expected &&
          terms[expected].op > interpreter::Op::Element) {
        inNode = i;
        computed[i] = actual;
        break;
      }
    at[0] = expected;
    at[1] = actual;
    Term e = terms[expected], a = terms[actual];
    int count = terms.operandCount(expected);
    if (e.op != a.op || e.type != a.type || e.attribute != a.attribute ||
        count == 0 || count != terms.operandCount(actual))
      return;
    if (isCommutative(e.op) &&
        (e.operands[0] == a.operands[1] || e.operands[1] == a.operands[0]))
      std::swap(a.operands[0], a.operands[1]);
    int next = -1;
    for (int i = 0; i < count; ++i)
      if (e.operands[i] != a.operands[i]) {
        if (next >= 0)
          return;
        next = i;
      }
    if (next < 0)
      return;
    expected = e.operands[next];
    actual = a.operands[next];
  }
}

/// The first node whose declared value the kernel's term is not made of. Where
/// another node needs it, all elements of that one differ.
std::optional<size_t> Comparison::lostNode(TermId expected, TermId actual) {
  auto reached = [&](TermId root) {
    std::vector<bool> marks(size_t(root) + 1);
    marks[root] = true;
    for (TermId id = root; id >= 0; --id) // operands have smaller numbers
      for (int i = 0; marks[id] && i < terms.operandCount(id); ++i)
        marks[terms[id].operands[i]] = true;
    return marks;
  };
  std::vector<bool> declared = reached(expected), kernel = reached(actual);
  for (auto [i, node] : llvm::enumerate(*nodes)) {
    size_t result = size_t(node.result);
    if (result < declared.size() && declared[result] &&
        !(result < kernel.size() && kernel[result]))
      return i;
  }
  return std::nullopt;
}

bool Comparison::sameSets(TermId expected, TermId actual) {
  return hasOpenOrder() && terms.withSets(expected) == terms.withSets(actual);
}

void Comparison::compare(pact::OutputOp output, int64_t row, int64_t position,
                         TermId expected, TermId actual) {
  if (expected == actual || report.differences.size() >= kMostDifferences)
    return;
  if (hasOpenOrder()) {
    TermId sets[] = {terms.withSets(expected), terms.withSets(actual)};
    if (sets[0] == sets[1])
      return;
    if (isOnline()) {
      expected = sets[0];
      actual = sets[1];
      for (NodeTerms &node : *nodes)
        node.result = terms.withSets(node.result);
    }
  }
  locate(expected, actual);
  std::optional<size_t> lost = lostNode(expected, actual);
  if (lost && inNode && *lost != *inNode) {
    NodeTerms &node = (*nodes)[*lost];
    lostNodes.insert(*lost);
    std::string text = llvm::formatv(
        "node '{0}', row {1}, extent {2}: the kernel computes nothing with the "
        "contract's tree {3}",
        node.node, node.row, extent,
        node.isOnline ? std::string("of states")
                      : briefText(*node.store, node.tree));
    if (!llvm::is_contained(report.differences, text))
      report.differences.push_back(text);
    return;
  }
  if (inNode && computed[*inNode]) {
    NodeTerms &node = (*nodes)[*inNode];
    std::string text = llvm::formatv(
        "node '{0}', row {1}, extent {2}: ", node.node, node.row, extent);
    std::optional<algebra::TreeId> tree;
    if (!isOnline())
      tree = TreeReader(terms, node).read(*computed[*inNode]);
    if (tree) {
      auto [declared, kernel] = firstDifference(*node.store, node.tree, *tree);
      text += "the kernel's tree is not the contract's; where they first "
              "differ the contract has " +
              briefText(*node.store, declared) + " and the kernel has " +
              briefText(*node.store, kernel);
    } else {
      text += "the kernel's value is not the contract's; where it first "
              "differs the contract has " +
              terms.text(at[0]) + " and the kernel has " + terms.text(at[1]);
    }
    if (!llvm::is_contained(report.differences, text))
      report.differences.push_back(text);
    return;
  }
  report.differences.push_back(llvm::formatv(
      "output '{0}', row {1}, position {2}, extent {3}: where it first differs "
      "the contract has {4} and the kernel has {5}",
      output.getTensor(), row, position, extent, terms.text(at[0]),
      terms.text(at[1])));
}

void Comparison::readTrees() {
  for (auto [i, node] : llvm::enumerate(*nodes)) {
    std::optional<algebra::TreeId> tree = node.tree;
    if (lostNodes.count(i))
      tree.reset();
    else if (computed[i] && isOnline())
      tree.reset();
    else if (computed[i])
      tree = TreeReader(terms, node).read(*computed[i]);
    report.trees.push_back({node.node, node.row, node.store, node.tree, tree});
  }
}

void Comparison::prepare() {
  for (pact::ReduceOp reduce : op.getOps<pact::ReduceOp>())
    reduced = reduce.getOverAttr();
  findOffsets();
  for (pact::InputOp input : op.getOps<pact::InputOp>())
    addBuffer(input.getTensor(), input.getResult().getType(), false);
  for (pact::IndexOp index : op.getOps<pact::IndexOp>())
    addIndex(index);
  for (pact::OutputOp output : op.getOps<pact::OutputOp>())
    addBuffer(output.getTensor(),
              cast<pact::RealType>(output.getValue().getType()), true);
  int number = 0;
  for (auto &[name, buffer] : buffers) {
    terms.tensors.push_back(name);
    bool isIndex = llvm::any_of(op.getOps<pact::IndexOp>(),
                                [&, &tensor = name](pact::IndexOp index) {
                                  return index.getTensor() == tensor;
                                });
    bool isGiven = buffer.isOutput || isIndex;
    for (size_t i = 0; i < buffer.cells.size() && !isGiven; ++i)
      buffer.cells[i] =
          buffer.type == Scalar::I32 && offsetsDim
              ? Cell::of(uint32_t(offsets[i]))
              : Cell::symbol(terms.element(number, int64_t(i), buffer.type));
    ++number;
  }
}

Dims Comparison::dims() const {
  Dims result;
  for (Attribute dim : pact::OperatorOp(op).getDims())
    result[cast<StringAttr>(dim).str()] = sizeOf(cast<StringAttr>(dim));
  return result;
}

LogicalResult Comparison::forEachElement(
    Declared &declared,
    llvm::function_ref<LogicalResult(pact::OutputOp, int64_t, int64_t, TermId,
                                     TermId)>
        see) {
  for (pact::OutputOp output : op.getOps<pact::OutputOp>()) {
    const Buffer &buffer = buffers.at(output.getTensor().str());
    for (auto [i, cell] : llvm::enumerate(buffer.cells)) {
      int64_t rest = int64_t(i), row = 0, position = 0;
      auto dimsOf = cast<pact::RealType>(output.getValue().getType()).getDims();
      for (size_t axis = dimsOf.size(); axis-- > 0;) {
        int64_t index = rest % buffer.present(axis);
        rest /= buffer.present(axis);
        (dimsOf[axis] == reduced ? position : row) = index;
      }
      TermId expected = declared.output(output, row, position);
      if (failed(see(output, row, position, expected,
                     terms.termOf(cell, buffer.type))))
        return failure();
    }
  }
  return success();
}

FailureOr<TreeReport> Comparison::run() {
  prepare();
  if (failed(runSteps(steps, terms, buffers, dims())))
    return failure();
  Declared declared(contract, op, extent, buffers, terms, offsets);
  nodes = &declared.nodes();
  (void)forEachElement(declared,
                       [&](pact::OutputOp output, int64_t row, int64_t position,
                           TermId expected, TermId actual) {
                         computed.resize(nodes->size());
                         compare(output, row, position, expected, actual);
                         return success();
                       });
  readTrees();
  return std::move(report);
}

bool Comparison::agrees(LeftOut &out) {
  leftOut = out;
  prepare();
  WholePrimitives whole(contract);
  if (failed(runSteps(steps, terms, buffers, dims(), nullptr, whole,
                      out.length ? &out : nullptr, true)))
    return false;
  Declared declared(contract, op, extent, buffers, terms, offsets, whole,
                    leftOut);
  nodes = &declared.nodes();
  return succeeded(
      forEachElement(declared, [&](pact::OutputOp, int64_t, int64_t,
                                   TermId expected, TermId actual) {
        return success(expected == actual || sameSets(expected, actual));
      }));
}

} // namespace

FailureOr<TreeReport>
interpreter::interpretTrees(pact::ContractOp contract, pact::OperatorOp op,
                            ArrayRef<kernel::FuncOp> steps, int64_t extent,
                            int64_t rows, std::vector<int64_t> offsets,
                            std::vector<int64_t> indices) {
  return Comparison(contract, op, steps, extent, rows, std::move(offsets),
                    std::move(indices))
      .run();
}

bool interpreter::treesAgree(pact::ContractOp contract, pact::OperatorOp op,
                             ArrayRef<kernel::FuncOp> steps, int64_t extent,
                             int64_t rows, std::vector<int64_t> offsets,
                             std::vector<int64_t> indices, LeftOut &leftOut) {
  return Comparison(contract, op, steps, extent, rows, std::move(offsets),
                    std::move(indices))
      .agrees(leftOut);
}
