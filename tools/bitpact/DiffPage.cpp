// DiffPage.cpp - a comparison as one static page
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bitpact/DiffPage.h"

#include "contracts/diff/NodeShape.h"
#include "tools/bitpact/Terminal.h"
#include "tools/bitpact/TreePicture.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace bitpact::tool {
namespace {

constexpr const char *style = R"(
:root { color-scheme: light dark; --page: #fbfaf8; --text: #1d1f21;
  --quiet: #63676c; --line: #d9d6d0; --card: #ffffff; --lane: #9aa0a6;
  --same: #6b7177; --differs: #c2331c; --mark: #fbe7e2; --good: #22743c; }
@media (prefers-color-scheme: dark) { :root { --page: #16181a;
  --text: #e6e4e0; --quiet: #a2a6aa; --line: #383b3e; --card: #1e2123;
  --lane: #6c7277; --same: #a7adb2; --differs: #ff7a5c; --mark: #43251d;
  --good: #6cc287; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 76rem;
  background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
p { margin: .3rem 0; max-width: 50rem; }
code, td.text, .digest { font: 13px/1.45 ui-monospace, monospace; }
.quiet { color: var(--quiet); }
.differs { color: var(--differs); } .equal { color: var(--good); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; background: var(--card); }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem;
  border: 1px solid var(--line); }
th { font-weight: 600; font-size: .85rem; color: var(--quiet); }
td.text { overflow-wrap: anywhere; min-width: 7rem; }
tr.marked td { background: var(--mark); }
.pair { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: .6rem 0; flex: 1 1 21rem; min-width: 0; padding: .8rem;
  background: var(--card); border: 1px solid var(--line);
  border-radius: .4rem; }
figcaption { font-weight: 600; margin-bottom: .3rem; }
figure table { width: 100%; }
svg { display: block; max-width: none; }
svg text { font: 12px ui-monospace, monospace; fill: var(--text); }
svg .leaf { text-anchor: end; fill: var(--quiet); }
svg .on { text-anchor: middle; font-size: 10px; fill: var(--same); }
svg .on.differs { fill: var(--differs); }
svg path { fill: none; stroke: var(--lane); stroke-width: 1.5; }
svg path.same { stroke: var(--same); } svg path.differs {
  stroke: var(--differs); stroke-width: 2.5; }
svg path.fused, svg path.any { stroke-width: 5; stroke-opacity: .6; }
svg circle, svg rect { fill: var(--same); }
svg circle.differs, svg rect.differs { fill: var(--differs); }
svg circle.ring { fill: var(--card); stroke: var(--same); stroke-width: 2; }
svg circle.ring.differs { stroke: var(--differs); }
)";

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

const char *fieldTitle(diff::Field field) {
  switch (field) {
  case diff::Field::D:
    return "domain";
  case diff::Field::Pi:
    return "partition";
  case diff::Field::T:
    return "merge tree";
  case diff::Field::P:
    return "precision";
  case diff::Field::R:
    return "rounding";
  default:
    return "primitive";
  }
}

std::string changeTable(const diff::Delta &delta) {
  std::string rows;
  for (const diff::Change &one : delta.changes)
    rows += fmt::format("<tr><td>{}</td><td>{} <span class=\"quiet\">{}</span>"
                        "</td><td class=\"text\">{}</td>"
                        "<td class=\"text\">{}</td></tr>\n",
                        escaped(one.node), diff::name(one.field),
                        fieldTitle(one.field), escaped(one.before),
                        escaped(one.after));
  return rows.empty() ? ""
                      : "<div class=\"scroll\"><table><tr><th>node</th>"
                        "<th>field</th><th>A</th><th>B</th></tr>\n" +
                            rows + "</table></div>\n";
}

/// What a digit says, without its name: this is compared with the other side.
std::string digitKey(const diff::Shape &shape, int entry) {
  const algebra::MergeEntry &merge = shape.reduction.order.entries()[entry];
  int i = shape.reduction.partition.find(merge.digit).value();
  algebra::MergeEntry plain = merge;
  plain.digit = "d";
  return fmt::format("{} {} {}", shape.reduction.partition.digits()[i].radix,
                     shape.reduction.partition.length(i), plain.text());
}

/// The digits in the order in which they merge.
std::string digitTable(const diff::Shape &shape, const diff::Shape &other,
                       int64_t extent) {
  std::multiset<std::string> theirs;
  int count = static_cast<int>(other.reduction.order.entries().size());
  for (int i = 0; i < count; ++i)
    theirs.insert(digitKey(other, i));
  const algebra::Partition &partition = shape.reduction.partition;
  std::vector<algebra::ResolvedDigit> resolved = partition.resolve(extent);
  std::string rows;
  for (size_t i = 0; i < shape.reduction.order.entries().size(); ++i) {
    algebra::MergeEntry merge = shape.reduction.order.entries()[i];
    int digit = partition.find(merge.digit).value();
    auto same = theirs.find(digitKey(shape, static_cast<int>(i)));
    bool marked = same == theirs.end();
    if (!marked)
      theirs.erase(same);
    std::string text = merge.text().substr(merge.digit.size() + 1);
    std::string blocks =
        partition.digits()[digit].kind == algebra::DigitKind::Offsets
            ? "between offsets"
            : fmt::format("{} × {}", resolved[digit].radix,
                          resolved[digit].length);
    rows += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                        "</tr>\n",
                        marked ? " class=\"marked\"" : "", i + 1,
                        escaped(merge.digit), blocks, escaped(text));
  }
  return "<div class=\"scroll\"><table><tr><th></th><th>digit</th>"
         "<th>blocks × length</th><th>merged by</th></tr>\n" +
         rows + "</table></div>\n";
}

std::string figure(const char *side, const std::string &partition,
                   const std::string &digits, const std::string &svg) {
  return fmt::format("<figure><figcaption>{}</figcaption>\n<code>{}</code>\n{}"
                     "<div class=\"scroll\">{}</div></figure>\n",
                     side, escaped(partition), digits, svg);
}

/// Both trees of a node, at the smallest extent where they are known to differ.
std::string nodeSection(const ComparedPair &pair, const std::string &node) {
  diff::Shape a = diff::shapeOf(pair.a->canonical, node);
  diff::Shape b = diff::shapeOf(pair.b->canonical, node);
  diff::Extents extents =
      diff::together(diff::extentsOf(pair.a->canonical, node),
                     diff::extentsOf(pair.b->canonical, node));
  std::string text = fmt::format("<h3>{}</h3>\n", escaped(node));
  if (!diff::covers(a, extents) || !diff::covers(b, extents))
    return text + "<p>Their digits cover different extents: no one tree of "
                  "each can be set side by side.</p>\n";
  diff::Decision decision = diff::decide(a, b, extents);
  text += fmt::format("<p class=\"{}\">{}</p>\n",
                      decision.verdict == diff::Decision::Equal ? "equal"
                                                                : "differs",
                      escaped(decision.text()));
  constexpr int64_t largest = 1 << 20;
  int64_t extent = extents.fixed.empty() ? 16 : extents.fixed.back();
  if (decision.verdict == diff::Decision::Different)
    extent = std::max(decision.extent,
                      extents.fixed.empty() ? int64_t(8) : decision.extent);
  extent = std::min(extent, largest);
  std::vector<int64_t> offsets = decision.offsets;
  bool cut = a.reduction.partition.offsetsDigit() ||
             b.reduction.partition.offsetsDigit();
  if (cut && (offsets.empty() || offsets.back() != extent))
    offsets = {0, extent / 3, extent};
  TreePair trees = chooseElements(
      a, b, extent, offsets, decision.verdict == diff::Decision::Different);
  bool all = static_cast<int64_t>(trees.shown.size()) == extent;
  text += fmt::format(
      "<p class=\"quiet\">{}{}. A line is an element, then the accumulator or "
      "partial that it is in; time runs to the right. ■ a step takes an "
      "element, ● partials meet, ○ states meet, × an accumulator is rescaled, "
      "id it begins with the identity, a format: it is rounded. What only one "
      "side has is marked.</p>\n",
      all ? fmt::format("All {} elements", extent)
          : fmt::format("{} of {} elements, at the edges of blocks",
                        trees.shown.size(), extent),
      cut ? fmt::format(", offsets {}", fmt::join(offsets, " ")) : "");
  text += "<div class=\"pair\">\n";
  int64_t whole = extents.fixed.empty() ? extent : extents.fixed.back();
  text += figure("A", a.reduction.partition.text(), digitTable(a, b, whole),
                 drawTree(trees, trees.a, trees.b, "merge tree of A"));
  text += figure("B", b.reduction.partition.text(), digitTable(b, a, whole),
                 drawTree(trees, trees.b, trees.a, "merge tree of B"));
  return text + "</div>\n";
}

/// Nodes whose tree a change or an equivalence speaks of.
std::vector<std::string> nodesToDraw(const ComparedPair &pair) {
  std::set<std::string> nodes;
  for (const diff::Change &one : pair.delta.changes)
    if (one.field == diff::Field::Pi || one.field == diff::Field::T ||
        one.path.ends_with(".merge"))
      nodes.insert(one.node);
  for (const diff::Equivalence &one : pair.delta.equivalences)
    if (pair.a->canonical.at("nodes").contains(one.node))
      nodes.insert(one.node);
  return {nodes.begin(), nodes.end()};
}

std::string sideLine(const char *side, const SourcedContract &one) {
  return fmt::format("<p><b>{}</b> {} <span class=\"quiet\">{} · {} · "
                     "{}</span></p>\n",
                     side, escaped(one.name), escaped(operatorOf(one)),
                     shortDigest(one.digest), escaped(one.path));
}

std::string pairSection(const ComparedPair &pair) {
  const diff::Delta &delta = pair.delta;
  std::string text =
      fmt::format("<section>\n<h2>{}</h2>\n", escaped(pair.label));
  text += sideLine("A", *pair.a) + sideLine("B", *pair.b);
  text += fmt::format("<p class=\"{}\">{}</p>\n",
                      delta.changes.empty() && delta.comparable ? "equal"
                                                                : "differs",
                      escaped(verdictText(delta)));
  text += changeTable(delta);
  for (const diff::Equivalence &one : delta.equivalences)
    text += fmt::format("<p>{}: equivalent, {}</p>\n", escaped(one.node),
                        escaped(one.rule));
  for (const std::string &node : nodesToDraw(pair))
    text += nodeSection(pair, node);
  return text + "</section>\n";
}

std::string overview(const Comparison &comparison) {
  std::string rows;
  for (const ComparedPair &pair : comparison.pairs) {
    std::string verdict = !pair.a   ? "only in B"
                          : !pair.b ? "only in A"
                                    : verdictText(pair.delta);
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"text\">{}</td>"
        "<td class=\"text\">{}</td><td>{}</td></tr>\n",
        escaped(pair.label), pair.a ? shortDigest(pair.a->digest) : "–",
        pair.b ? shortDigest(pair.b->digest) : "–", escaped(verdict));
  }
  for (const diff::ModelChange &one : comparison.modelChanges)
    rows +=
        fmt::format("<tr><td>{}</td><td class=\"text\">{}</td>"
                    "<td class=\"text\">{}</td><td>different</td></tr>\n",
                    escaped(one.what), escaped(one.before), escaped(one.after));
  return "<div class=\"scroll\"><table><tr><th>contract</th><th>A</th>"
         "<th>B</th><th></th></tr>\n" +
         rows + "</table></div>\n";
}

} // namespace

std::string diffPage(const Comparison &comparison) {
  std::string body;
  if (!comparison.single)
    body += overview(comparison);
  for (const ComparedPair &pair : comparison.pairs)
    if (pair.whole() && (comparison.single || pair.delta.verdict() != "equal"))
      body += pairSection(pair);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>Bitpact diff: {0}</title>\n<style>{1}"
      "</style>\n</head>\n<body>\n<h1>Difference of contracts</h1>\n"
      "<p class=\"{2}\">{0}</p>\n{3}</body>\n</html>\n",
      comparison.verdict(), style, comparison.exitCode() ? "differs" : "equal",
      body);
}

} // namespace bitpact::tool
