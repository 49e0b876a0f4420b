// Trees.cpp - a kernel run on symbols, compared with what a contract declares
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/Steps.h"
#include "compiler/Interpreter/TreeCase.h"
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
  Comparison(TreeCase &on, ArrayRef<kernel::FuncOp> steps, int64_t extent)
      : on(on), terms(on.terms), steps(steps), extent(extent) {}

  FailureOr<TreeReport> run();

private:
  void compare(pact::OutputOp output, int64_t row, int64_t position,
               TermId expected, TermId actual);
  void locate(TermId expected, TermId actual);
  std::optional<size_t> lostNode(TermId expected, TermId actual);
  void readTrees();

  TreeCase &on;
  TermStore &terms;
  ArrayRef<kernel::FuncOp> steps;
  int64_t extent;
  /// What stands in the kernel's terms where a node's result should.
  std::vector<std::optional<TermId>> computed;
  /// The innermost node in which the last located difference lies, and the
  /// differing terms.
  std::optional<size_t> inNode;
  std::set<size_t> lostNodes;
  TermId at[2];
  TreeReport report;
};

/// Goes down while the two terms differ in one operand, and notes the nodes
/// that it passes.
void Comparison::locate(TermId expected, TermId actual) {
  inNode.reset();
  while (true) {
    for (auto [i, node] : llvm::enumerate(on.nodes()))
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
  for (auto [i, node] : llvm::enumerate(on.nodes())) {
    size_t result = size_t(node.result);
    if (result < declared.size() && declared[result] &&
        !(result < kernel.size() && kernel[result]))
      return i;
  }
  return std::nullopt;
}

void Comparison::compare(pact::OutputOp output, int64_t row, int64_t position,
                         TermId expected, TermId actual) {
  if (expected == actual || report.differences.size() >= kMostDifferences)
    return;
  if (on.hasOpenOrder()) {
    TermId sets[] = {terms.withSets(expected), terms.withSets(actual)};
    if (sets[0] == sets[1])
      return;
    if (on.isOnline()) {
      expected = sets[0];
      actual = sets[1];
      for (NodeTerms &node : on.nodes())
        node.result = terms.withSets(node.result);
    }
  }
  locate(expected, actual);
  std::optional<size_t> lost = lostNode(expected, actual);
  if (lost && inNode && *lost != *inNode) {
    NodeTerms &node = on.nodes()[*lost];
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
    NodeTerms &node = on.nodes()[*inNode];
    std::string text = llvm::formatv(
        "node '{0}', row {1}, extent {2}: ", node.node, node.row, extent);
    std::optional<algebra::TreeId> tree;
    if (!on.isOnline())
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
  for (auto [i, node] : llvm::enumerate(on.nodes())) {
    std::optional<algebra::TreeId> tree = node.tree;
    if (lostNodes.count(i))
      tree.reset();
    else if (computed[i] && on.isOnline())
      tree.reset();
    else if (computed[i])
      tree = TreeReader(terms, node).read(*computed[i]);
    report.trees.push_back({node.node, node.row, node.store, node.tree, tree});
  }
}

FailureOr<TreeReport> Comparison::run() {
  std::map<std::string, Buffer> tensors = on.tensors(steps);
  if (failed(runSteps(steps, terms, tensors, on.dims())))
    return failure();
  (void)on.forEachElement(tensors, [&](pact::OutputOp output, int64_t row,
                                       int64_t position, TermId expected,
                                       TermId actual) {
    computed.resize(on.nodes().size());
    compare(output, row, position, expected, actual);
    return success();
  });
  readTrees();
  return std::move(report);
}

} // namespace

FailureOr<TreeReport>
interpreter::interpretTrees(pact::ContractOp contract, pact::OperatorOp op,
                            ArrayRef<kernel::FuncOp> steps, int64_t extent,
                            int64_t rows, std::vector<int64_t> offsets,
                            std::vector<int64_t> indices) {
  TreeCase on(contract, op,
              {extent, rows, std::move(offsets), std::move(indices), {}}, {});
  return Comparison(on, steps, extent).run();
}
