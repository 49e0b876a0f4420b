// Equivalence.cpp - do two texts of a reduction mean one tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/diff/Equivalence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bitpact::diff {
namespace {

using algebra::Elements;
using algebra::TreeId;
using algebra::TreeKind;
using algebra::TreeStore;

/// Extents up to which differences are looked for before, and instead of, whole
/// trees of larger ones.
constexpr int64_t quick = 4096, prefix = 65536;

std::string rulesText(const RuleSet &rules) {
  std::string text;
  for (int rule : rules)
    text += fmt::format("{}Q{} ({})", text.empty() ? "" : "; ", rule,
                        ruleText(rule));
  return text.empty() ? "their digits and merges are the same" : text;
}

/// The rules that are needed for two normal forms to be equal, or nothing.
std::optional<RuleSet> rulesFor(const Shape &a, const Shape &b,
                                std::optional<int64_t> extent) {
  NormalForm left(a, extent), right(b, extent);
  if (left != right)
    return std::nullopt;
  RuleSet needed = left.applied();
  needed.insert(right.applied().begin(), right.applied().end());
  for (int rule : RuleSet(needed)) {
    RuleSet fewer = needed;
    fewer.erase(rule);
    if (NormalForm(a, extent, fewer) == NormalForm(b, extent, fewer))
      needed = fewer;
  }
  return needed;
}

/// A step that is an addition is a merge with the element (rule Q10), one that
/// is a maximum meets others in any order (rule Q9).
TreeId withoutSteps(const Shape &shape, TreeStore &store, TreeId root) {
  if (shape.reduction.state == algebra::State::Online)
    return root;
  std::vector<TreeId> now(static_cast<size_t>(root) + 1);
  for (TreeId id = 0; id <= root; ++id) {
    algebra::TreeNode node = store.node(id);
    bool later = node.kind == TreeKind::Step &&
                 store.node(node.children[0]).kind != TreeKind::Identity;
    if (later) {
      TreeId element = shape.reduction.start == algebra::Start::First
                           ? store.first(node.children[1])
                           : store.step(store.identity(), node.children[1]);
      now[id] = store.merge(now[node.children[0]], element);
    } else if (node.kind == TreeKind::Merge) {
      now[id] = store.merge(now[node.children[0]], now[node.children[1]]);
    } else if (node.kind == TreeKind::Round) {
      now[id] = store.round(node.format, now[node.children[0]]);
    } else {
      now[id] = id;
    }
  }
  return now[root];
}

bool effectiveFormats(const Shape &shape) {
  const auto &entries = shape.reduction.order.entries();
  return std::any_of(entries.begin(), entries.end(), [&](const auto &entry) {
    auto rounds = [&](std::optional<algebra::Format> format) {
      return format &&
             !algebra::widensExactly(shape.reduction.accumulator, *format);
    };
    return rounds(entry.from) || rounds(entry.in);
  });
}

/// Ways to cut an extent at offsets.
std::vector<std::vector<int64_t>> cuts(const Shape &a, const Shape &b,
                                       int64_t extent) {
  if (!a.reduction.partition.offsetsDigit() &&
      !b.reduction.partition.offsetsDigit())
    return {{}};
  std::vector<std::vector<int64_t>> result{{0, extent}};
  for (int64_t at : {int64_t(1), extent / 3, extent / 2, extent - 1})
    if (at > 0 && at < extent)
      result.push_back({0, at, extent});
  if (extent >= 5)
    result.push_back({0, extent / 5, extent / 5, extent / 2 + 1, extent});
  return result;
}

/// Cuts at which the trees of an extent differ.
std::optional<std::vector<int64_t>> differsAt(const Shape &a, const Shape &b,
                                              int64_t extent) {
  for (const std::vector<int64_t> &offsets : cuts(a, b, extent))
    if (!treesEqual(a, b, {extent, {}, offsets}))
      return offsets;
  return std::nullopt;
}

Decision different(const Shape &a, const Shape &b, int64_t extent) {
  Decision decision{Decision::Different};
  decision.extent = extent;
  decision.offsets = differsAt(a, b, extent).value();
  return decision;
}

/// Without roundings between merges, the tree of a prefix is that of the whole
/// without the other leaves. So trees that differ at an extent differ at every
/// larger one, and the smallest is found by halving.
Decision smallestDifference(const Shape &a, const Shape &b, int64_t largest) {
  int64_t equal = 0, extent = 1;
  while (!differsAt(a, b, extent)) {
    equal = extent;
    if (extent == largest) {
      Decision undecided;
      undecided.extent = equal;
      return undecided;
    }
    extent = std::min(extent * 2, largest);
  }
  while (extent - equal > 1) {
    int64_t middle = equal + (extent - equal) / 2;
    (differsAt(a, b, middle) ? extent : equal) = middle;
  }
  Decision decision = different(a, b, extent);
  bool cut = !decision.offsets.empty();
  decision.smallest = !cut && !effectiveFormats(a) && !effectiveFormats(b);
  return decision;
}

} // namespace

bool treesEqual(const Shape &a, const Shape &b, const Elements &elements) {
  TreeStore store;
  std::optional<TreeId> left = buildTree(store, a.reduction, elements);
  std::optional<TreeId> right = buildTree(store, b.reduction, elements);
  if (left == right || !left || !right)
    return left == right;
  if (!a.plainStep || !b.plainStep ||
      a.reduction.kind == algebra::ReductionKind::Max)
    return false;
  return withoutSteps(a, store, *left) == withoutSteps(b, store, *right);
}

Decision decide(const Shape &a, const Shape &b, const Extents &extents,
                int64_t treeLimit) {
  Shape left = a, right = b;
  // Only where both steps are plain does either text profit from it.
  left.plainStep = right.plainStep = a.plainStep && b.plainStep;
  std::optional<int64_t> extent;
  if (!extents.fixed.empty())
    extent = extents.fixed.back();
  if (auto rules = rulesFor(left, right, extent))
    return {Decision::Equal, rulesText(*rules)};
  Decision undecided;
  if (extents.masked)
    return undecided;
  bool cut = left.reduction.partition.offsetsDigit().has_value() ||
             right.reduction.partition.offsetsDigit().has_value();
  if (!extent)
    return smallestDifference(left, right, std::min(treeLimit, prefix));
  if (!cut) {
    // The first elements are quick, and if their trees differ without any
    // rounding between merges, so do the whole ones.
    Decision part = smallestDifference(
        left, right, std::min(*extent <= treeLimit ? quick : prefix, *extent));
    if (part.verdict == Decision::Different &&
        (part.smallest || part.extent == *extent))
      return part;
    if (*extent > treeLimit) {
      if (part.verdict == Decision::Undecided)
        undecided.extent = part.extent;
      return undecided;
    }
  }
  for (int64_t each : extents.fixed)
    if (each <= treeLimit && differsAt(left, right, each))
      return different(left, right, each);
  if (!cut)
    return {Decision::Equal, fmt::format("trees are equal at extent {}",
                                         fmt::join(extents.fixed, " and "))};
  undecided.extent = std::min(treeLimit, *extent);
  return undecided;
}

std::string Decision::text() const {
  if (verdict == Equal)
    return how;
  if (verdict == Undecided)
    return extent ? fmt::format("not decided beyond extent {}", extent)
                  : "not decided";
  std::string where =
      smallest ? fmt::format("trees differ from extent {} on", extent)
               : fmt::format("trees differ at extent {}", extent);
  return offsets.empty()
             ? where
             : fmt::format("{}, offsets {}", where, fmt::join(offsets, " "));
}

} // namespace bitpact::diff
