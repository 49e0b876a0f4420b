// RevealedTree.h - which partial sums meet: a tree without roundings and starts
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_REVEAL_REVEALEDTREE_H
#define BITPACT_EVIDENCE_REVEAL_REVEALEDTREE_H

#include "contracts/algebra/Tree.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bitpact::reveal {

using VertexId = int32_t;

/// A leaf, or where two or more parts meet in one operation.
struct Vertex {
  /// Of a leaf; -1 inside.
  int64_t position = -1;
  /// Ascending by their least position.
  std::vector<VertexId> children{};
  /// Leaves below, and the least of their positions.
  int64_t leaves = 1, least = 0;
  /// In which order the children meet cannot change a bit.
  bool any = false;

  bool isLeaf() const { return position >= 0; }
};

/// What results alone can tell of a tree. Children have smaller ids than their
/// vertex, and the root is the last vertex. Trees of 2^18 leaves in one chain
/// are fine: nothing here recurses.
class RevealedTree {
public:
  VertexId leaf(int64_t position);
  /// A vertex of at least two children.
  VertexId meet(std::vector<VertexId> children, bool any = false);

  /// What is left of a declared tree when roundings, starts, rescales and the
  /// identity are taken as given.
  static RevealedTree of(const algebra::TreeStore &store, algebra::TreeId root);

  /// The tree of those leaves alone; `kept` ascends and is not empty.
  RevealedTree restrictedTo(const std::vector<int64_t> &kept) const;

  bool empty() const { return vertices.empty(); }
  VertexId root() const { return static_cast<VertexId>(vertices.size()) - 1; }
  const Vertex &at(VertexId id) const { return vertices[id]; }
  int64_t leaves() const { return empty() ? 0 : vertices.back().leaves; }
  /// Of all vertices, the most children.
  int64_t widest() const;
  int64_t depth() const;

  /// The vertex at which two leaves meet, for all pairs at once.
  std::vector<VertexId>
  meetings(const std::vector<std::pair<int64_t, int64_t>> &pairs) const;

  bool operator==(const RevealedTree &other) const;

  /// A place where they differ, in words: the leaves of the first vertex of one
  /// that the other does not have. Nothing if they are equal.
  std::optional<std::string> difference(const RevealedTree &other) const;

private:
  /// Positions and numbers of children in one order: equal for equal trees.
  std::vector<int64_t> written() const;
  std::vector<Vertex> vertices;
};

/// "x0…x7 x4096…x4103", cut after `most` ranges.
std::string rangesText(std::vector<int64_t> positions, int most = 4);

} // namespace bitpact::reveal

#endif // BITPACT_EVIDENCE_REVEAL_REVEALEDTREE_H
