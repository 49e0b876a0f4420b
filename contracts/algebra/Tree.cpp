// Tree.cpp - explicit reduction trees, equal exactly if their ids are equal
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Tree.h"

#include <algorithm>
#include <cassert>

namespace bitpact::algebra {
namespace {

/// The children in the one order that equal nodes share.
std::vector<TreeId> sortedChildren(const TreeNode &node) {
  std::vector<TreeId> children = node.children;
  if (node.kind == TreeKind::Merge || node.kind == TreeKind::Any)
    std::sort(children.begin(), children.end());
  else if (node.kind == TreeKind::Fused) // the first is the accumulator
    std::sort(children.begin() + 1, children.end());
  return children;
}

bool same(const TreeNode &a, const TreeNode &b) {
  return a.kind == b.kind && a.format == b.format && a.position == b.position &&
         a.atom == b.atom && a.ranges == b.ranges &&
         sortedChildren(a) == sortedChildren(b);
}

size_t hash(const TreeNode &node) {
  size_t result = static_cast<size_t>(node.kind);
  auto mix = [&](size_t value) {
    result ^= value + 0x9e3779b97f4a7c15 + (result << 6) + (result >> 2);
  };
  mix(static_cast<size_t>(node.format));
  mix(std::hash<int64_t>()(node.position));
  mix(static_cast<size_t>(node.atom.terms * 64 + node.atom.fraction));
  for (int64_t edge : node.ranges)
    mix(std::hash<int64_t>()(edge));
  for (TreeId child : sortedChildren(node))
    mix(static_cast<size_t>(child));
  return result;
}

} // namespace

TreeId TreeStore::intern(TreeNode node) {
  size_t key = hash(node);
  auto [begin, end] = index.equal_range(key);
  for (auto it = begin; it != end; ++it)
    if (same(nodes[it->second], node))
      return it->second;
  TreeId id = static_cast<TreeId>(nodes.size());
  nodes.push_back(std::move(node));
  index.emplace(key, id);
  return id;
}

TreeId TreeStore::identity() { return intern({TreeKind::Identity}); }

TreeId TreeStore::leaf(int64_t position) {
  TreeNode node{TreeKind::Leaf};
  node.position = position;
  return intern(std::move(node));
}

TreeId TreeStore::first(TreeId leaf) {
  TreeNode node{TreeKind::First};
  node.children = {leaf};
  return intern(std::move(node));
}

TreeId TreeStore::step(TreeId accumulator, TreeId leaf) {
  TreeNode node{TreeKind::Step};
  node.children = {accumulator, leaf};
  return intern(std::move(node));
}

TreeId TreeStore::fused(const Atom &atom, TreeId accumulator,
                        const std::vector<TreeId> &leaves) {
  TreeNode node{TreeKind::Fused};
  node.atom = atom;
  node.children = {accumulator};
  node.children.insert(node.children.end(), leaves.begin(), leaves.end());
  return intern(std::move(node));
}

TreeId TreeStore::merge(TreeId a, TreeId b) {
  TreeNode node{TreeKind::Merge};
  node.children = {a, b};
  return intern(std::move(node));
}

TreeId TreeStore::any(const std::vector<TreeId> &parts) {
  assert(!parts.empty() && "a set of partials has a member");
  TreeNode node{TreeKind::Any};
  for (TreeId part : parts) {
    if (nodes[part].kind == TreeKind::Any)
      node.children.insert(node.children.end(), nodes[part].children.begin(),
                           nodes[part].children.end());
    else
      node.children.push_back(part);
  }
  return node.children.size() == 1 ? node.children[0] : intern(std::move(node));
}

TreeId TreeStore::round(Format format, TreeId part) {
  if (nodes[part].kind == TreeKind::Round &&
      widensExactly(nodes[part].format, format))
    return part;
  TreeNode node{TreeKind::Round};
  node.format = format;
  node.children = {part};
  return intern(std::move(node));
}

TreeId TreeStore::bound(std::optional<TreeId> bound,
                        const std::vector<int64_t> &positions) {
  std::vector<std::pair<int64_t, int64_t>> runs;
  if (bound)
    for (size_t i = 0; i < nodes[*bound].ranges.size(); i += 2)
      runs.emplace_back(nodes[*bound].ranges[i], nodes[*bound].ranges[i + 1]);
  for (int64_t position : positions)
    runs.emplace_back(position, position + 1);
  std::sort(runs.begin(), runs.end());
  TreeNode node{TreeKind::Bound};
  for (auto [begin, end] : runs) {
    if (!node.ranges.empty() && node.ranges.back() >= begin)
      node.ranges.back() = std::max(node.ranges.back(), end);
    else
      node.ranges.insert(node.ranges.end(), {begin, end});
  }
  return intern(std::move(node));
}

TreeId TreeStore::weight(TreeId leaf, TreeId bound) {
  TreeNode node{TreeKind::Weight};
  node.children = {leaf, bound};
  return intern(std::move(node));
}

TreeId TreeStore::rescale(TreeId part, TreeId before, TreeId after) {
  TreeNode node{TreeKind::Rescale};
  node.children = {part, before, after};
  return intern(std::move(node));
}

TreeId TreeStore::combine(TreeId left, TreeId leftBound, TreeId right,
                          TreeId rightBound, TreeId bound) {
  TreeNode node{TreeKind::Combine};
  node.children = {left, right, leftBound, rightBound, bound};
  return intern(std::move(node));
}

std::vector<int64_t> TreeStore::leaves(TreeId root) const {
  // Children have smaller ids, so one descending pass marks what is reachable.
  std::vector<bool> reached(root + 1, false);
  reached[root] = true;
  std::vector<int64_t> positions;
  for (TreeId id = root; id >= 0; --id) {
    if (!reached[id])
      continue;
    if (nodes[id].kind == TreeKind::Leaf)
      positions.push_back(nodes[id].position);
    for (TreeId child : nodes[id].children)
      reached[child] = true;
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

} // namespace bitpact::algebra
