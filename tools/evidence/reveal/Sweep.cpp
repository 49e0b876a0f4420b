// Sweep.cpp - follows a tree from extent to extent
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Sweep.h"
#include "contracts/algebra/RuleError.h"
#include "tools/evidence/reveal/Questions.h"

#include <algorithm>
#include <fmt/format.h>

using bitpact::algebra::Partition;
using bitpact::algebra::Reduction;

namespace bitpact::reveal {
namespace {

/// The tree that a text declares, empty if it does not cover the extent.
RevealedTree declared(const Reduction &reduction, int64_t extent) {
  try {
    algebra::TreeStore store;
    algebra::Elements elements;
    elements.extent = extent;
    if (auto root = algebra::buildTree(store, reduction, elements))
      return RevealedTree::of(store, *root);
  } catch (const algebra::RuleError &) {
  }
  return {};
}

class Sweeper {
public:
  Sweeper(SweepReport &report, const std::function<SweptBox(int64_t)> &open)
      : report(report), open(open) {}

  void at(int64_t extent) {
    SweptBox swept = open(extent);
    if (report.intervals.empty())
      report.signature = swept.box->signature();
    Options options;
    options.treeOnly = true;
    Report found = reveal(*swept.box, options);
    report.rows += found.rows;
    std::string reason = found.reason;
    if (!found.sample.empty()) {
      reason = fmt::format("{} terms are too many to ask about all", extent);
      found.tree = {};
    }
    fraction = found.fraction;
    bool joined = report.reduces ? joinFamily(extent, found.tree, swept.variant)
                                 : joinTree(found.tree, swept.variant);
    if (!joined)
      begin(extent, found.tree, swept.variant, reason);
    SweepInterval &interval = report.intervals.back();
    interval.first = extent;
    interval.firstTree = std::move(found.tree);
    ++interval.asked;
  }

private:
  bool continues(const std::string &variant) const {
    // A step of one or two terms does not show how many bits it keeps.
    return !report.intervals.empty() &&
           report.intervals.back().variant == variant &&
           (report.intervals.back().fraction == fraction ||
            (report.reduces && fraction < 0));
  }

  bool joinTree(const RevealedTree &tree, const std::string &variant) const {
    return continues(variant) && report.intervals.back().firstTree == tree;
  }

  bool joinFamily(int64_t extent, const RevealedTree &tree,
                  const std::string &variant) {
    if (!continues(variant))
      return false;
    SweepInterval &interval = report.intervals.back();
    // Without a text nothing says what the trees have in common.
    if (candidates.empty())
      return interval.firstTree.empty() == tree.empty() &&
             (tree.empty() || recognisedAt(tree).empty());
    std::vector<Reduction> left;
    for (const Reduction &one : candidates)
      if (declared(one, extent) == tree)
        left.push_back(one);
    if (left.empty())
      return false;
    candidates = std::move(left);
    interval.reduction = candidates.front();
    return true;
  }

  std::vector<Reduction> recognisedAt(const RevealedTree &tree) {
    RecogniseOptions options;
    options.kind = report.signature.kind;
    options.fraction = fraction;
    Recognised found = recognise(tree, options);
    whyNot = found.reason;
    if (!found.reduction)
      return {};
    return families(*found.reduction, tree.leaves());
  }

  void begin(int64_t extent, const RevealedTree &tree,
             const std::string &variant, const std::string &reason) {
    SweepInterval interval;
    interval.last = extent;
    interval.variant = variant;
    interval.lastTree = tree;
    interval.reason = reason;
    interval.fraction = fraction;
    candidates.clear();
    if (!tree.empty()) {
      candidates = recognisedAt(tree);
      if (candidates.empty())
        interval.reason = whyNot;
      else
        interval.reduction = candidates.front();
    }
    report.intervals.push_back(std::move(interval));
  }

  SweepReport &report;
  const std::function<SweptBox(int64_t)> &open;
  std::vector<Reduction> candidates;
  std::string whyNot;
  int64_t fraction = -1;
};

bool same(const SweepInterval &a, const SweepInterval &b, bool reduces) {
  if (!reduces)
    return !a.firstTree.empty() && a.firstTree == b.firstTree &&
           a.fraction == b.fraction;
  return a.reduction && b.reduction &&
         a.reduction->partition.renamed() == b.reduction->partition.renamed() &&
         a.reduction->order.renamed(a.reduction->partition) ==
             b.reduction->order.renamed(b.reduction->partition);
}

void number(SweepReport &report) {
  int64_t next = 0;
  for (size_t i = 0; i < report.intervals.size(); ++i) {
    SweepInterval &one = report.intervals[i];
    if (one.lastTree.empty())
      continue;
    for (size_t j = 0; j < i && !one.number; ++j)
      if (same(report.intervals[j], one, report.reduces))
        one.number = report.intervals[j].number;
    if (!one.number)
      one.number = ++next;
  }
}

} // namespace

std::vector<Reduction> families(const Reduction &reduction, int64_t extent) {
  std::vector<Reduction> list;
  RevealedTree tree = declared(reduction, extent);
  const auto &digits = reduction.partition.digits();
  for (size_t star = 0; star < digits.size(); ++star) {
    std::string text;
    for (size_t i = 0; i < digits.size(); ++i) {
      algebra::Digit digit = digits[i];
      if (i == star) {
        digit.kind = algebra::DigitKind::Star;
        digit.radix = 0;
      }
      text += (text.empty() ? "" : " ") + digit.text();
    }
    try {
      Reduction one = reduction;
      one.partition = Partition::parse(text);
      one.validate();
      if (declared(one, extent) == tree)
        list.push_back(std::move(one));
    } catch (const algebra::RuleError &) {
    }
  }
  list.push_back(reduction);
  return list;
}

SweepReport sweep(const SweepRange &range, bool reduces,
                  const std::function<SweptBox(int64_t)> &open,
                  const evidence::Progress &progress) {
  SweepReport report;
  report.range = range;
  report.reduces = reduces;
  Sweeper sweeper(report, open);
  int64_t total = static_cast<int64_t>(range.extents.size()), done = 0;
  for (size_t i = range.extents.size(); i-- > 0;) {
    sweeper.at(range.extents[i]);
    if (progress)
      progress(fmt::format("{} = {}", range.dim, range.extents[i]), ++done,
               total);
  }
  std::reverse(report.intervals.begin(), report.intervals.end());
  number(report);
  return report;
}

} // namespace bitpact::reveal
