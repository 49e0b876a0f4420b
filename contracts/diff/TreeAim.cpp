// TreeAim.cpp - positions at which the trees of two contracts differ
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/TreeAim.h"

#include <algorithm>
#include <set>

namespace bitpact::diff {

using algebra::Elements;
using algebra::Reduction;
using algebra::TreeId;
using algebra::TreeStore;
using reference::NodeFacts;
using reference::OperatorProgram;

namespace {

/// Lowest common ancestors in one tree.
class Ancestors {
public:
  Ancestors(const TreeStore &store, TreeId root, int64_t extent)
      : leafOf(extent, -1) {
    parent.assign(root + 1, -1);
    depth.assign(root + 1, -1);
    leaves.assign(root + 1, 0);
    depth[root] = 0;
    for (TreeId id = root; id >= 0; --id) {
      if (depth[id] < 0)
        continue; // of another tree
      for (TreeId child : store.node(id).children)
        if (depth[child] < 0) {
          parent[child] = id;
          depth[child] = depth[id] + 1;
        }
    }
    for (TreeId id = 0; id <= root; ++id) {
      if (depth[id] < 0)
        continue;
      const algebra::TreeNode &node = store.node(id);
      if (node.kind == algebra::TreeKind::Leaf) {
        leafOf[node.position] = id;
        leaves[id] = 1;
      }
      if (parent[id] >= 0)
        leaves[parent[id]] += leaves[id];
    }
  }

  /// Elements below the lowest common ancestor; 0 where one is not there.
  int64_t commonSize(int64_t i, int64_t j) const {
    if (i >= static_cast<int64_t>(leafOf.size()) ||
        j >= static_cast<int64_t>(leafOf.size()))
      return 0;
    TreeId a = leafOf[i], b = leafOf[j];
    if (a < 0 || b < 0)
      return 0;
    while (a != b)
      (depth[a] >= depth[b] ? a : b) = parent[depth[a] >= depth[b] ? a : b];
    return leaves[a];
  }

private:
  std::vector<TreeId> parent, leafOf;
  std::vector<int64_t> depth, leaves;
};

Elements elementsOf(const OperatorProgram &program, int node, int64_t extent) {
  Elements elements{existingExtent(program, node, extent)};
  if (program.nodes[node].offsets)
    elements.offsets = {0, 0, elements.extent};
  return elements;
}

std::vector<std::pair<int64_t, int64_t>> pairsToTry(int64_t n) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  if (n <= 40) {
    for (int64_t apart = 1; apart < n; ++apart)
      for (int64_t i = 0; i + apart < n; ++i)
        pairs.push_back({i, i + apart});
    return pairs;
  }
  std::set<int64_t> firsts{0, 1, 2, 3, 5, 7, 8, 15, 16, n / 3, n / 2, n - 2};
  for (int64_t apart = 1; apart < n; apart *= 2)
    for (int64_t step : {apart, apart + 1, apart - 1, apart * 3})
      for (int64_t i : firsts)
        if (step > 0 && i + step < n)
          pairs.push_back({i, i + step});
  for (int64_t i : firsts)
    pairs.push_back({i, n - 1});
  return pairs;
}

/// Climbing a chain is linear, so that long rows get fewer pairs.
constexpr int64_t manySteps = int64_t(1) << 24;

} // namespace

int64_t existingExtent(const OperatorProgram &program, int number,
                       int64_t extent) {
  const NodeFacts &node = program.nodes[number];
  return node.extent.value_or(program.dims[node.over].extent.value_or(extent));
}

std::vector<int> changedNodes(const ContractPair &pair) {
  std::vector<int> changed;
  for (size_t i = 0; i < pair.programA().nodes.size(); ++i) {
    const NodeFacts &a = pair.programA().nodes[i],
                    &b = pair.programB().nodes[i];
    const Reduction &ra = a.reduction, &rb = b.reduction;
    if (!(ra.partition == rb.partition) || !(ra.order == rb.order) ||
        ra.start != rb.start || ra.state != rb.state || a.extent != b.extent ||
        pair.programA().dims[a.over].extent !=
            pair.programB().dims[b.over].extent)
      changed.push_back(static_cast<int>(i));
  }
  return changed;
}

bool treesDiffer(const ContractPair &pair, int node, int64_t extent) {
  TreeStore store;
  auto build = [&](const OperatorProgram &program) {
    return algebra::buildTree(store, program.nodes[node].reduction,
                              elementsOf(program, node, extent));
  };
  return build(pair.programA()) != build(pair.programB());
}

std::vector<TreeAim> aimAtTrees(const ContractPair &pair,
                                const std::vector<int64_t> &extents) {
  std::vector<TreeAim> aims;
  for (int node : changedNodes(pair)) {
    const NodeFacts &facts = pair.programA().nodes[node];
    TreeAim aim{node, facts.over, facts.reduction.kind, {}};
    int64_t extent = extents[facts.over];
    TreeStore store;
    auto build = [&](const OperatorProgram &program) {
      return algebra::buildTree(store, program.nodes[node].reduction,
                                elementsOf(program, node, extent));
    };
    auto a = build(pair.programA()), b = build(pair.programB());
    if (a && b) {
      Ancestors inA(store, *a, extent), inB(store, *b, extent);
      int64_t steps = 0;
      for (auto [i, j] : pairsToTry(extent)) {
        if (aim.pairs.size() >= TreeAim::manyPairs || steps > manySteps)
          break;
        int64_t sizeA = inA.commonSize(i, j), sizeB = inB.commonSize(i, j);
        steps += sizeA + sizeB;
        if (sizeA != sizeB)
          aim.pairs.push_back({i, j});
      }
    }
    if (aim.pairs.empty())
      for (int64_t i = 0; i < std::min<int64_t>(extent, 8); ++i)
        aim.pairs.push_back({i, (i + 1) % extent});
    aims.push_back(std::move(aim));
  }
  return aims;
}

std::vector<std::vector<int64_t>> extentsToTry(const ContractPair &pair) {
  const OperatorProgram &program = pair.programA();
  std::vector<int64_t> scan;
  for (int64_t n = 1; n <= 130; ++n)
    scan.push_back(n);
  for (int64_t n = 256; n <= 65536; n *= 2)
    for (int64_t near : {n - 1, n, n + 1})
      scan.push_back(near);
  std::vector<std::vector<int64_t>> all(4);
  std::vector<int> changed = changedNodes(pair);
  for (size_t dim = 0; dim < program.dims.size(); ++dim) {
    int64_t smallest = std::max<int64_t>(1, pair.fixedExtent(dim));
    bool open = pair.isOpen(dim) && !program.dims[dim].isRow;
    bool inNode = std::any_of(program.nodes.begin(), program.nodes.end(),
                              [&](const NodeFacts &node) {
                                return node.over == static_cast<int>(dim);
                              });
    if (open && !program.dims[dim].isReduced)
      smallest = 3; // such as the boundaries of sequences
    else if (open && !inNode)
      smallest = 2; // one to take and another
    open = open && inNode;
    if (open) {
      smallest = 24;
      for (int64_t n : scan)
        if (std::any_of(changed.begin(), changed.end(), [&](int node) {
              return program.nodes[node].over == static_cast<int>(dim) &&
                     treesDiffer(pair, node, n);
            })) {
          smallest = n;
          break;
        }
    }
    // Trees of few elements may differ and give the same sums.
    const int64_t larger[] = {smallest, smallest + 2,
                              std::max<int64_t>(2 * smallest + 3, 24),
                              std::max<int64_t>(3 * smallest, 200)};
    for (size_t i = 0; i < all.size(); ++i)
      all[i].push_back(open ? larger[i] : smallest);
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

} // namespace bitpact::diff
