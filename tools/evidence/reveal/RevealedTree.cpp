// RevealedTree.cpp - which partial sums meet: a tree without roundings and
// starts Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/RevealedTree.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using bitpact::algebra::TreeId;
using bitpact::algebra::TreeKind;
using bitpact::algebra::TreeNode;
using bitpact::algebra::TreeStore;

namespace bitpact::reveal {
namespace {

/// How many of a node's children are partials or elements, and not bounds.
size_t partsOf(const TreeNode &node) {
  switch (node.kind) {
  case TreeKind::Weight:
  case TreeKind::Rescale:
    return 1;
  case TreeKind::Combine:
    return 2;
  case TreeKind::Bound:
    return 0;
  default:
    return node.children.size();
  }
}

/// Two sums of one hash each: equal for equal sets of leaves, and as good as
/// never for others.
uint64_t hashOf(int64_t position) {
  uint64_t x = static_cast<uint64_t>(position) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

} // namespace

VertexId RevealedTree::leaf(int64_t position) {
  Vertex &vertex = vertices.emplace_back();
  vertex.position = vertex.least = position;
  return root();
}

VertexId RevealedTree::meet(std::vector<VertexId> children, bool any) {
  std::sort(children.begin(), children.end(), [&](VertexId a, VertexId b) {
    return vertices[a].least < vertices[b].least;
  });
  Vertex vertex;
  vertex.leaves = 0;
  for (VertexId child : children)
    vertex.leaves += vertices[child].leaves;
  vertex.least = vertices[children.front()].least;
  vertex.children = std::move(children);
  vertex.any = any;
  vertices.push_back(std::move(vertex));
  return root();
}

RevealedTree RevealedTree::of(const TreeStore &store, TreeId top) {
  std::vector<bool> reached(top + 1);
  reached[top] = true;
  for (TreeId id = top; id >= 0; --id)
    if (reached[id])
      for (size_t i = 0; i < partsOf(store.node(id)); ++i)
        reached[store.node(id).children[i]] = true;
  RevealedTree tree;
  std::vector<VertexId> vertexOf(top + 1, -1);
  for (TreeId id = 0; id <= top; ++id) {
    if (!reached[id])
      continue;
    const TreeNode &node = store.node(id);
    if (node.kind == TreeKind::Leaf) {
      vertexOf[id] = tree.leaf(node.position);
      continue;
    }
    std::vector<VertexId> parts;
    for (size_t i = 0; i < partsOf(node); ++i)
      if (vertexOf[node.children[i]] >= 0)
        parts.push_back(vertexOf[node.children[i]]);
    if (parts.size() == 1)
      vertexOf[id] = parts[0];
    else if (!parts.empty())
      vertexOf[id] = tree.meet(parts, node.kind == TreeKind::Any);
  }
  return tree;
}

RevealedTree
RevealedTree::restrictedTo(const std::vector<int64_t> &kept) const {
  RevealedTree tree;
  std::vector<VertexId> vertexOf(vertices.size(), -1);
  for (size_t id = 0; id < vertices.size(); ++id) {
    const Vertex &vertex = vertices[id];
    if (vertex.isLeaf()) {
      if (std::binary_search(kept.begin(), kept.end(), vertex.position))
        vertexOf[id] = tree.leaf(vertex.position);
      continue;
    }
    std::vector<VertexId> parts;
    for (VertexId child : vertex.children)
      if (vertexOf[child] >= 0)
        parts.push_back(vertexOf[child]);
    if (parts.size() == 1)
      vertexOf[id] = parts[0];
    else if (!parts.empty())
      vertexOf[id] = tree.meet(parts, vertex.any);
  }
  return tree;
}

int64_t RevealedTree::widest() const {
  size_t most = 0;
  for (const Vertex &vertex : vertices)
    most = std::max(most, vertex.children.size());
  return static_cast<int64_t>(most);
}

int64_t RevealedTree::depth() const {
  std::vector<int64_t> depths(vertices.size());
  for (size_t id = 0; id < vertices.size(); ++id)
    for (VertexId child : vertices[id].children)
      depths[id] = std::max(depths[id], depths[child] + 1);
  return depths.empty() ? 0 : depths.back();
}

std::vector<VertexId> RevealedTree::meetings(
    const std::vector<std::pair<int64_t, int64_t>> &pairs) const {
  std::vector<VertexId> parent(vertices.size(), -1);
  std::map<int64_t, VertexId> leafAt;
  for (size_t id = 0; id < vertices.size(); ++id) {
    for (VertexId child : vertices[id].children)
      parent[child] = static_cast<VertexId>(id);
    if (vertices[id].isLeaf())
      leafAt[vertices[id].position] = static_cast<VertexId>(id);
  }
  std::vector<VertexId> found;
  for (auto [i, j] : pairs) {
    VertexId a = leafAt.at(i), b = leafAt.at(j);
    while (a != b) // a parent's id is larger than its children's
      (a < b ? a : b) = parent[a < b ? a : b];
    found.push_back(a);
  }
  return found;
}

std::vector<int64_t> RevealedTree::written() const {
  std::vector<int64_t> text;
  std::vector<VertexId> open;
  if (!empty())
    open.push_back(root());
  while (!open.empty()) {
    const Vertex &vertex = vertices[open.back()];
    open.pop_back();
    auto children = static_cast<int64_t>(vertex.children.size());
    text.push_back(vertex.isLeaf() ? vertex.position
                                   : -2 * children - (vertex.any ? 1 : 0));
    for (auto it = vertex.children.rbegin(); it != vertex.children.rend(); ++it)
      open.push_back(*it);
  }
  return text;
}

bool RevealedTree::operator==(const RevealedTree &other) const {
  return written() == other.written();
}

std::optional<std::string>
RevealedTree::difference(const RevealedTree &other) const {
  if (*this == other)
    return std::nullopt;
  auto hashes = [](const RevealedTree &tree) {
    std::vector<uint64_t> sums(tree.vertices.size());
    for (size_t id = 0; id < sums.size(); ++id) {
      const Vertex &vertex = tree.vertices[id];
      sums[id] = vertex.isLeaf() ? hashOf(vertex.position) : 0;
      for (VertexId child : vertex.children)
        sums[id] += sums[child];
    }
    return sums;
  };
  std::vector<uint64_t> mine = hashes(*this), theirs = hashes(other);
  std::map<uint64_t, size_t> known;
  for (size_t id = 0; id < theirs.size(); ++id)
    known[theirs[id]] = other.vertices[id].children.size();
  auto leavesBelow = [&](VertexId top) {
    std::vector<int64_t> positions;
    std::vector<VertexId> open{top};
    while (!open.empty()) {
      const Vertex &vertex = vertices[open.back()];
      open.pop_back();
      if (vertex.isLeaf())
        positions.push_back(vertex.position);
      open.insert(open.end(), vertex.children.begin(), vertex.children.end());
    }
    return rangesText(std::move(positions));
  };
  for (size_t id = 0; id < mine.size(); ++id) {
    auto found = known.find(mine[id]);
    if (found == known.end()) {
      const Vertex &vertex = vertices[id];
      std::vector<std::string> parts;
      for (VertexId child : vertex.children)
        parts.push_back("(" + leavesBelow(child) + ")");
      std::string text;
      for (size_t i = 0; i < parts.size() && i < 4; ++i)
        text += (i ? " + " : "") + parts[i];
      return text + (parts.size() > 4 ? " + …" : "");
    }
    if (found->second != vertices[id].children.size())
      return fmt::format("({}) of {} parts in one step, not {}",
                         leavesBelow(static_cast<VertexId>(id)),
                         vertices[id].children.size(), found->second);
  }
  return "(" + leavesBelow(root()) + ")";
}

std::string rangesText(std::vector<int64_t> positions, int most) {
  std::sort(positions.begin(), positions.end());
  std::string text;
  for (size_t i = 0; i < positions.size();) {
    size_t end = i + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1)
      ++end;
    if (most-- == 0)
      return text + " …";
    text += fmt::format("{}x{}", text.empty() ? "" : " ", positions[i]);
    if (end - i > 1)
      text += fmt::format("{}x{}", end - i > 2 ? "…" : " ", positions[end - 1]);
    i = end;
  }
  return text;
}

} // namespace bitpact::reveal
