// Drawing.cpp - a revealed tree as text and as an image
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Drawing.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace bitpact::reveal {
namespace {

/// Boxes in one image at most.
constexpr int64_t mostBoxes = 48;

std::vector<int64_t> positionsBelow(const RevealedTree &tree, VertexId top) {
  std::vector<int64_t> positions;
  std::vector<VertexId> open{top};
  while (!open.empty()) {
    const Vertex &vertex = tree.at(open.back());
    open.pop_back();
    if (vertex.isLeaf())
      positions.push_back(vertex.position);
    open.insert(open.end(), vertex.children.begin(), vertex.children.end());
  }
  return positions;
}

/// An accumulator that visits single elements: what it visits, in order. Steps
/// of several elements are in brackets. Nothing if it is no such thing.
std::optional<std::string> chainText(const RevealedTree &tree, VertexId top) {
  std::vector<std::vector<int64_t>> steps;
  bool fused = false;
  VertexId at = top;
  while (!tree.at(at).isLeaf()) {
    const Vertex &vertex = tree.at(at);
    std::vector<int64_t> elements;
    VertexId next = -1;
    for (VertexId child : vertex.children) {
      if (tree.at(child).isLeaf() && (next >= 0 || child != vertex.children[0]))
        elements.push_back(tree.at(child).position);
      else if (next < 0)
        next = child;
      else
        return std::nullopt;
    }
    fused |= elements.size() > 1;
    steps.push_back(std::move(elements));
    at = next;
  }
  steps.push_back({tree.at(at).position});
  std::reverse(steps.begin(), steps.end());
  if (fused) {
    // The first element stands with those of its step.
    if (steps.size() > 1) {
      steps[1].insert(steps[1].begin(), steps[0][0]);
      steps.erase(steps.begin());
    }
    std::string text = "steps";
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i == 3 && steps.size() > 4) {
        text += fmt::format(" … {} steps", steps.size());
        break;
      }
      text += " {" + rangesText(steps[i]) + "}";
    }
    return text;
  }
  // Runs in the order of the visit, which need not ascend.
  std::string text = "chain";
  int runs = 0;
  for (size_t i = 0; i < steps.size();) {
    size_t end = i + 1;
    int64_t stride = end < steps.size() ? steps[end][0] - steps[i][0] : 1;
    while (end < steps.size() && steps[end][0] == steps[end - 1][0] + stride)
      ++end;
    if (++runs > 4) {
      text += fmt::format(" … {} elements", steps.size());
      break;
    }
    text += fmt::format(" x{}", steps[i][0]);
    if (end - i > 2)
      text += fmt::format(" x{} … x{}", steps[i + 1][0], steps[end - 1][0]);
    else if (end - i == 2)
      text += fmt::format(" x{}", steps[i + 1][0]);
    i = end;
  }
  return text;
}

struct TextDrawing {
  const RevealedTree &tree;
  int64_t lines;
  std::string out{};

  /// `whole`: nothing below is left out while there are lines.
  void add(VertexId id, const std::string &indent, bool whole) {
    const Vertex &vertex = tree.at(id);
    --lines;
    if (vertex.isLeaf()) {
      out += fmt::format("x{}\n", vertex.position);
      return;
    }
    if (vertex.any) {
      out += fmt::format("any order of {}\n",
                         rangesText(positionsBelow(tree, id)));
      return;
    }
    if (std::optional<std::string> chain = chainText(tree, id)) {
      out += *chain + "\n";
      return;
    }
    if (!whole || lines < 2) {
      out += fmt::format("… {} elements: {}\n", vertex.leaves,
                         rangesText(positionsBelow(tree, id)));
      return;
    }
    out += vertex.children.size() > 2 ? "+ in one step\n" : "+\n";
    for (size_t i = 0; i < vertex.children.size(); ++i) {
      bool last = i + 1 == vertex.children.size();
      out += indent + (last ? "└─ " : "├─ ");
      add(vertex.children[i], indent + (last ? "   " : "│  "),
          i == 0 || tree.leaves() <= 16);
    }
  }
};

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
                      : std::string(1, c);
  return out;
}

} // namespace

std::string draw(const RevealedTree &tree, int64_t mostLines) {
  if (tree.empty())
    return "";
  TextDrawing drawing{tree, mostLines};
  drawing.add(tree.root(), "", true);
  return drawing.out;
}

std::string svg(const RevealedTree &tree, const std::string &title) {
  if (tree.empty())
    return "";
  // From the top, the largest part is opened first, while there is room.
  std::map<VertexId, bool> opened;
  std::vector<VertexId> boxes{tree.root()};
  auto bySize = [&](VertexId a, VertexId b) {
    return tree.at(a).leaves < tree.at(b).leaves;
  };
  for (;;) {
    auto largest = std::max_element(boxes.begin(), boxes.end(), bySize);
    const Vertex &vertex = tree.at(*largest);
    if (vertex.isLeaf() ||
        static_cast<int64_t>(boxes.size() + vertex.children.size()) >
            mostBoxes + 1)
      break;
    opened[*largest] = true;
    boxes.erase(largest);
    boxes.insert(boxes.end(), vertex.children.begin(), vertex.children.end());
  }
  constexpr double width = 96, height = 44;
  std::map<VertexId, std::pair<double, int>> places; // x, depth
  double nextX = 0;
  int deepest = 0;
  auto place = [&](auto &&self, VertexId id, int depth) -> void {
    deepest = std::max(deepest, depth);
    if (!opened.count(id)) {
      places[id] = {nextX, depth};
      nextX += width;
      return;
    }
    double sum = 0;
    for (VertexId child : tree.at(id).children) {
      self(self, child, depth + 1);
      sum += places.at(child).first;
    }
    places[id] = {sum / static_cast<double>(tree.at(id).children.size()),
                  depth};
  };
  place(place, tree.root(), 0);
  double totalWidth = std::max(nextX + 24, 360.0);
  double totalHeight = (deepest + 1) * height + 64;
  auto xOf = [&](VertexId id) { return places.at(id).first + width / 2 + 12; };
  auto yOf = [&](VertexId id) { return places.at(id).second * height + 56; };
  std::string lines, marks;
  for (const auto &[id, at] : places) {
    const Vertex &vertex = tree.at(id);
    if (opened.count(id)) {
      for (VertexId child : vertex.children)
        lines += fmt::format(
            "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
            xOf(id), yOf(id), xOf(child), yOf(child));
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"10\" "
                           "class=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}"
                           "</text>\n",
                           xOf(id), yOf(id),
                           vertex.children.size() > 2 ? "step" : "add", xOf(id),
                           yOf(id) + 4, vertex.any ? "∗" : "+");
      continue;
    }
    std::string text = vertex.isLeaf() ? fmt::format("x{}", vertex.position)
                                       : fmt::format("x{} … ({})", vertex.least,
                                                     vertex.leaves);
    std::string full =
        chainText(tree, id).value_or(rangesText(positionsBelow(tree, id)));
    marks += fmt::format("<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
                         "width=\"88\" height=\"22\" rx=\"4\" class=\"{}\"/>"
                         "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
                         escaped(full), xOf(id) - 44, yOf(id) - 11,
                         vertex.isLeaf() ? "leaf" : "part", xOf(id),
                         yOf(id) + 4, text);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<style>text{{font:12px sans-serif;text-anchor:middle}} "
      "line{{stroke:#667;stroke-width:1.2}} .add{{fill:#dde7ff;stroke:#446}} "
      ".step{{fill:#ffe3c2;stroke:#843}} .leaf{{fill:#fff;stroke:#446}} "
      ".part{{fill:#eef3ea;stroke:#464}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"12\" y=\"22\" style=\"text-anchor:start;font-weight:bold\">{2}"
      "</text>\n<g>\n{3}</g>\n{4}</svg>\n",
      totalWidth, totalHeight, escaped(title), lines, marks);
}

} // namespace bitpact::reveal
