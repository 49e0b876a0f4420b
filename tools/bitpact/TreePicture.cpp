// TreePicture.cpp - two merge trees as SVG, what they do not share marked
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/TreePicture.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace bitpact::algebra;

namespace bitpact::tool {
namespace {

constexpr int laneHeight = 24, columnWidth = 26, left = 74, top = 12;

/// Positions where blocks of either partition begin, the first and the last.
std::set<int64_t> candidates(const diff::Shape &a, const diff::Shape &b,
                             int64_t extent, size_t most) {
  std::vector<int64_t> wanted{0, extent - 1, 1};
  for (int64_t times : {1, 2, 3, 4})
    for (const diff::Shape *shape : {&a, &b})
      for (int i = 0; i < shape->reduction.partition.size(); ++i) {
        int64_t length = shape->reduction.partition.length(i);
        if (length > 0 && length < extent)
          wanted.push_back(times * length);
      }
  std::set<int64_t> chosen;
  for (int64_t position : wanted)
    if (position >= 0 && position < extent && chosen.size() < most)
      chosen.insert(position);
  return chosen;
}

Elements elementsOf(const std::set<int64_t> &positions, int64_t extent,
                    const std::vector<int64_t> &offsets) {
  Elements elements{extent, std::vector<bool>(static_cast<size_t>(extent)),
                    offsets};
  for (int64_t position : positions)
    elements.present[static_cast<size_t>(position)] = true;
  return elements;
}

/// Fewer and fewer elements as long as the trees differ.
std::set<int64_t> reduced(const diff::Shape &a, const diff::Shape &b,
                          int64_t extent, const std::vector<int64_t> &offsets,
                          size_t most) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < extent; ++i)
    kept.push_back(i);
  for (size_t part = kept.size() / 2; part > 0 && kept.size() > most; part /= 2)
    for (size_t at = 0; at + part <= kept.size() && kept.size() > most;) {
      std::vector<int64_t> fewer(kept.begin(),
                                 kept.begin() + static_cast<long>(at));
      fewer.insert(fewer.end(), kept.begin() + static_cast<long>(at + part),
                   kept.end());
      Elements elements =
          elementsOf({fewer.begin(), fewer.end()}, extent, offsets);
      if (!fewer.empty() && !diff::treesEqual(a, b, elements))
        kept = std::move(fewer);
      else
        at += part;
    }
  kept.resize(std::min(kept.size(), most));
  return {kept.begin(), kept.end()};
}

std::string textMark(int x, int y, const std::string &text,
                     const std::string &kind) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", kind,
                     x, y, text);
}

/// Lays one tree out in columns, children before what takes them.
class Drawing {
public:
  Drawing(const TreePair &pair, TreeId root, TreeId other) : pair(pair) {
    for (size_t i = 0; i < pair.shown.size(); ++i)
      lanes[pair.shown[i]] = static_cast<int>(i);
    collect(other, shared);
    place(root);
    // The result leaves on its lane.
    int y = yOf(nodes.at(root).lane);
    columns = std::max(columns, nodes.at(root).column);
    lines += fmt::format("<path class=\"lane\" d=\"M{} {}H{}\"/>\n",
                         xOf(nodes.at(root).column), y, width() - 4);
  }

  std::string svg(const std::string &title) const {
    std::string labels;
    for (const auto &[position, lane] : lanes)
      labels += textMark(left - 8, yOf(lane) + 4, fmt::format("x{}", position),
                         "leaf");
    return fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\" aria-label=\"{2}\">\n{3}{4}{5}</svg>\n",
        width(), 2 * top + laneHeight * static_cast<int>(lanes.size()), title,
        labels, lines, marks);
  }

private:
  struct Placed {
    int lane, column;
  };
  const TreePair &pair;
  std::map<int64_t, int> lanes;
  std::set<TreeId> shared;
  std::map<TreeId, Placed> nodes;
  /// In every column, which lanes are crossed.
  std::map<int, std::vector<std::pair<int, int>>> busy;
  int columns = 0;
  std::string lines, marks;

  int xOf(int column) const { return left + columnWidth * column; }
  int yOf(int lane) const { return top + laneHeight / 2 + laneHeight * lane; }
  int width() const { return xOf(columns + 1) + 8; }

  void collect(TreeId root, std::set<TreeId> &ids) const {
    if (!ids.insert(root).second)
      return;
    for (TreeId child : pair.store.node(root).children)
      collect(child, ids);
  }

  /// The first free column from `column` on for a line across these lanes.
  int freeColumn(int column, int low, int high) {
    auto crossed = [&](int at) {
      for (auto [from, to] : busy[at])
        if (from <= high && low <= to)
          return true;
      return false;
    };
    while (crossed(column))
      ++column;
    busy[column].emplace_back(low, high);
    columns = std::max(columns, column);
    return column;
  }

  void lane(const Placed &from, int column, const char *kind) {
    lines += fmt::format("<path class=\"{}\" d=\"M{} {}H{}\"/>\n", kind,
                         xOf(from.column), yOf(from.lane), xOf(column));
  }

  Placed place(TreeId id) {
    if (auto found = nodes.find(id); found != nodes.end())
      return found->second;
    Placed placed = draw(id);
    nodes[id] = placed;
    return placed;
  }

  Placed draw(TreeId id) {
    const TreeNode &node = pair.store.node(id);
    bool mark = !shared.count(id);
    switch (node.kind) {
    case TreeKind::Leaf:
      return {lanes.at(node.position), 0};
    case TreeKind::Weight:
      return place(node.children[0]);
    case TreeKind::First:
      return place(node.children[0]);
    case TreeKind::Round:
      return onLane(node.children[0], std::string(name(node.format)), mark);
    case TreeKind::Rescale:
      return onLane(node.children[0], "×", mark);
    case TreeKind::Combine:
      return meet({node.children[0], node.children[1]}, "combine", mark);
    case TreeKind::Step:
      if (pair.store.node(node.children[0]).kind == TreeKind::Identity)
        return onLane(node.children[1], "id", mark);
      return meet(node.children, "step", mark);
    case TreeKind::Fused: {
      std::vector<TreeId> parts = node.children;
      if (pair.store.node(parts[0]).kind == TreeKind::Identity)
        parts.erase(parts.begin());
      return meet(parts, "fused", mark);
    }
    case TreeKind::Any:
      return meet(node.children, "any", mark);
    default:
      return meet(node.children, "merge", mark);
    }
  }

  /// An operation on one value.
  Placed onLane(TreeId child, const std::string &text, bool mark) {
    Placed part = place(child);
    int column = freeColumn(part.column + 1, part.lane, part.lane);
    lane(part, column, "lane");
    marks += textMark(xOf(column), yOf(part.lane) - 5, text,
                      mark ? "on differs" : "on");
    marks +=
        fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"2\"/>\n",
                    mark ? "differs" : "same", xOf(column), yOf(part.lane));
    return {part.lane, column};
  }

  /// Values that meet on the lane of the first one.
  Placed meet(const std::vector<TreeId> &parts, const std::string &kind,
              bool mark) {
    std::vector<Placed> placed;
    int first = 0, low = INT32_MAX, high = 0;
    for (TreeId part : parts) {
      placed.push_back(place(part));
      first = std::max(first, placed.back().column);
      low = std::min(low, placed.back().lane);
      high = std::max(high, placed.back().lane);
    }
    int column = freeColumn(first + 1, low, high);
    for (const Placed &part : placed)
      lane(part, column, "lane");
    const char *tone = mark ? "differs" : "same";
    lines += fmt::format("<path class=\"{} {}\" d=\"M{} {}V{}\"/>\n", tone,
                         kind, xOf(column), yOf(low), yOf(high));
    int x = xOf(column), y = yOf(placed[0].lane);
    if (kind == "step")
      marks += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"9\" "
                           "height=\"9\"/>\n",
                           tone, x - 4.5, y - 4.5);
    else if (kind == "combine")
      marks += fmt::format("<circle class=\"{} ring\" cx=\"{}\" cy=\"{}\" "
                           "r=\"6\"/>\n",
                           tone, x, y);
    else
      marks += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" "
                           "r=\"5\"/>\n",
                           tone, x, y);
    return {placed[0].lane, column};
  }
};

} // namespace

TreePair chooseElements(const diff::Shape &a, const diff::Shape &b,
                        int64_t extent, const std::vector<int64_t> &offsets,
                        bool differ) {
  constexpr size_t most = 14;
  std::set<int64_t> shown;
  if (extent <= static_cast<int64_t>(most)) {
    for (int64_t i = 0; i < extent; ++i)
      shown.insert(i);
  } else {
    shown = candidates(a, b, extent, most);
    constexpr int64_t searched = 4096;
    if (differ && extent <= searched &&
        diff::treesEqual(a, b, elementsOf(shown, extent, offsets)))
      shown = reduced(a, b, extent, offsets, most);
  }
  TreePair pair;
  pair.extent = extent;
  pair.shown.assign(shown.begin(), shown.end());
  pair.offsets = offsets;
  Elements elements = elementsOf(shown, extent, offsets);
  pair.a = buildTree(pair.store, a.reduction, elements).value();
  pair.b = buildTree(pair.store, b.reduction, elements).value();
  return pair;
}

std::string drawTree(const TreePair &pair, TreeId root, TreeId other,
                     const std::string &title) {
  return Drawing(pair, root, other).svg(title);
}

} // namespace bitpact::tool
