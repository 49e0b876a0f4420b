// TreeText.cpp - reduction trees as text
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/Tree.h"

#include <algorithm>

namespace bitpact::algebra {
namespace {

/// The accumulator's states of a chain that ends at `last`, oldest first. They
/// are Step nodes after one First, Identity, Fused or Rescale node.
std::vector<TreeId> chainOf(const TreeStore &store, TreeId last) {
  std::vector<TreeId> states{last};
  while (store.node(states.back()).kind == TreeKind::Step)
    states.push_back(store.node(states.back()).children[0]);
  std::reverse(states.begin(), states.end());
  return states;
}

std::string leafText(const TreeStore &store, TreeId leaf) {
  const TreeNode &node = store.node(leaf);
  if (node.kind == TreeKind::Weight)
    return leafText(store, node.children[0]);
  return "x" + std::to_string(node.position);
}

/// A fused chain written flat: `fused(id; x0 x1; x2 x3)`.
std::string fusedText(const TreeStore &store, TreeId last) {
  std::vector<TreeId> steps;
  TreeId at = last;
  for (; store.node(at).kind == TreeKind::Fused;
       at = store.node(at).children[0])
    steps.push_back(at);
  std::string text = "fused(" + store.expression(at);
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    text += ";";
    const std::vector<TreeId> &children = store.node(*it).children;
    for (size_t i = 1; i < children.size(); ++i)
      text += " " + leafText(store, children[i]);
  }
  return text + ")";
}

std::string chainText(const TreeStore &store, TreeId last) {
  std::string text = "chain(";
  std::vector<TreeId> states = chainOf(store, last);
  for (size_t i = 0; i < states.size(); ++i) {
    const TreeNode &node = store.node(states[i]);
    text += i ? ", " : "";
    if (node.kind == TreeKind::Step)
      text += leafText(store, node.children[1]);
    else if (node.kind == TreeKind::First)
      text += leafText(store, node.children[0]);
    else
      text += store.expression(states[i]);
  }
  return text + ")";
}

void drawInto(const TreeStore &store, TreeId id, const std::string &indent,
              std::string &out) {
  const TreeNode &node = store.node(id);
  bool inner = node.kind == TreeKind::Merge || node.kind == TreeKind::Any ||
               node.kind == TreeKind::Round || node.kind == TreeKind::Rescale ||
               node.kind == TreeKind::Combine;
  if (!inner) {
    out += store.expression(id) + "\n";
    return;
  }
  out += node.kind == TreeKind::Merge     ? "+\n"
         : node.kind == TreeKind::Any     ? "any\n"
         : node.kind == TreeKind::Rescale ? "carry\n"
         : node.kind == TreeKind::Combine
             ? "⊕\n"
             : std::string(name(node.format)) + "\n";
  // What follows the partials is the bounds of their maxima.
  size_t parts = node.kind == TreeKind::Rescale   ? 1
                 : node.kind == TreeKind::Combine ? 2
                                                  : node.children.size();
  for (size_t i = 0; i < parts; ++i) {
    bool last = i + 1 == parts;
    out += indent + (last ? "└─ " : "├─ ");
    drawInto(store, node.children[i], indent + (last ? "   " : "│  "), out);
  }
}

} // namespace

std::string TreeStore::expression(TreeId root) const {
  const TreeNode &node = nodes[root];
  switch (node.kind) {
  case TreeKind::Identity:
    return "id";
  case TreeKind::Leaf:
    return leafText(*this, root);
  case TreeKind::First:
  case TreeKind::Step:
    return chainText(*this, root);
  case TreeKind::Fused:
    return fusedText(*this, root);
  case TreeKind::Merge:
    return "(" + expression(node.children[0]) + " + " +
           expression(node.children[1]) + ")";
  case TreeKind::Any: {
    std::string text = "any(";
    for (size_t i = 0; i < node.children.size(); ++i)
      text += (i ? ", " : "") + expression(node.children[i]);
    return text + ")";
  }
  case TreeKind::Round:
    return std::string(name(node.format)) + "(" + expression(node.children[0]) +
           ")";
  case TreeKind::Bound: {
    std::string text = "max(";
    for (size_t i = 0; i < node.ranges.size(); i += 2) {
      text += (i ? ", x" : "x") + std::to_string(node.ranges[i]);
      if (node.ranges[i + 1] - node.ranges[i] > 1)
        text += "…x" + std::to_string(node.ranges[i + 1] - 1);
    }
    return text + ")";
  }
  case TreeKind::Weight:
    return leafText(*this, root);
  case TreeKind::Rescale:
    return "carry(" + expression(node.children[0]) + ")";
  case TreeKind::Combine:
    return "(" + expression(node.children[0]) + " ⊕ " +
           expression(node.children[1]) + ")";
  }
  return {};
}

std::string TreeStore::draw(TreeId root) const {
  std::string out;
  drawInto(*this, root, "", out);
  return out;
}

} // namespace bitpact::algebra
