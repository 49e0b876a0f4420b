// TreePicture.h - two merge trees as SVG, what they do not share marked
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TOOL_TREEPICTURE_H
#define BITPACT_TOOL_TREEPICTURE_H

#include "contracts/diff/Equivalence.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::tool {

/// The elements that a picture shows of a node, and its trees.
struct TreePair {
  algebra::TreeStore store;
  algebra::TreeId a = 0, b = 0;
  /// The extent, and the positions drawn: all of it, or a few.
  int64_t extent = 0;
  std::vector<int64_t> shown;
  std::vector<int64_t> offsets;
};

/// At most 14 elements, on which the trees differ if those of all elements do.
/// Trees are over positions, so that the tree of a few is a part of the whole.
TreePair chooseElements(const diff::Shape &a, const diff::Shape &b,
                        int64_t extent, const std::vector<int64_t> &offsets,
                        bool differ);

/// One <svg>: a lane an element, accumulators running to the right. Merges that
/// `other` does not have are marked.
std::string drawTree(const TreePair &pair, algebra::TreeId root,
                     algebra::TreeId other, const std::string &title);

} // namespace bitpact::tool

#endif // BITPACT_TOOL_TREEPICTURE_H
