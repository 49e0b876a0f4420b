// Recognise.cpp - digits and merges that build a tree
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Recognise.h"

#include "contracts/algebra/RuleError.h"
#include "tools/evidence/reveal/Way.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

using namespace bitpact::algebra;

namespace bitpact::reveal {
namespace {

/// A digit and how it is merged.
struct Found {
  int64_t length, radix;
  Form form;
  /// Levels of the way at which its parts meet, of merges of partials.
  size_t firstLevel = 0, levels = 0;
};

/// Texts that are built to compare; trees of thousands of leaves take a while.
constexpr int mostTrials = 64;

/// The most elements that a step takes, 1 where every step takes one: an
/// accumulator meets them, but the first step of each begins from nothing.
int64_t stepWidth(const RevealedTree &tree) {
  if (tree.widest() <= 2)
    return 1;
  int64_t width = 1;
  for (VertexId id = 0; id <= tree.root(); ++id) {
    const std::vector<VertexId> &parts = tree.at(id).children;
    bool first = std::all_of(parts.begin(), parts.end(), [&](VertexId part) {
      return tree.at(part).isLeaf();
    });
    width = std::max(width, static_cast<int64_t>(parts.size()) - !first);
  }
  return width;
}

class Recogniser {
public:
  Recogniser(const RevealedTree &revealed, const RecogniseOptions &chosen)
      : tree(revealed), options(chosen) {}
  Recognised run();

private:
  std::string roundings(const std::vector<Found> &digits, size_t at) const;
  std::optional<std::vector<Found>> run(size_t levels) const;
  void merges(size_t at, std::vector<Found> &digits);
  void tryText(const std::vector<Found> &digits);
  /// The atom whose step takes so many terms and keeps so many bits; empty if
  /// none of the language does.
  std::string atom() const {
    if (!options.nearest)
      return fmt::format("dot.nv({},{})", width, options.fraction);
    return width <= 8 && options.fraction == 24 ? "dot.cdna3" : "";
  }

  const RevealedTree &tree;
  RecogniseOptions options;
  std::vector<Level> way; // innermost first
  /// Leading levels whose parts are single elements.
  size_t accumulated = 0;
  int64_t width = 1; // of the atom
  int trials = 0;
  std::optional<Reduction> best;
};

/// Partials that keep fewer bits than the accumulator were rounded: each result
/// of a merge (`in`), or what enters it (`from`).
std::string Recogniser::roundings(const std::vector<Found> &digits,
                                  size_t at) const {
  const std::vector<int> &bits = options.levelBits;
  auto formatAt = [&](size_t level) -> std::string {
    if (level < bits.size() && bits[level] > 0 &&
        bits[level] < precision(options.accumulator))
      for (Format format : {Format::BF16, Format::F16, Format::F32})
        if (precision(format) == bits[level])
          return std::string(name(format));
    return "";
  };
  auto isIn = [&](const Found &digit) {
    return digit.levels > 0 && !formatAt(digit.firstLevel).empty() &&
           (digit.levels > 1 || digit.firstLevel + 1 == way.size());
  };
  const Found &digit = digits[at];
  std::string text;
  if (digit.firstLevel > 0 && (at == 0 || !isIn(digits[at - 1])))
    if (std::string from = formatAt(digit.firstLevel - 1); !from.empty())
      text += " from " + from;
  if (isIn(digit))
    text += " in " + formatAt(digit.firstLevel);
  return text;
}

/// The digits of an accumulator that visits position 0 and then the elements
/// of so many levels: each digit repeats what the ones before it visit.
std::optional<std::vector<Found>> Recogniser::run(size_t levels) const {
  std::vector<int64_t> visits{0};
  std::vector<Found> digits;
  size_t from = 0;
  if (width > 1) {
    // The first step: its elements are those of a digit, unordered.
    const std::vector<int64_t> &rest = way.front().elements;
    auto radix = static_cast<int64_t>(rest.size()) + 1;
    for (int64_t i = 1; i < radix; ++i)
      if (rest[i - 1] != i * rest[0])
        return std::nullopt;
    digits.push_back({rest[0], radix, Form::Fused});
    from = 1;
  }
  for (size_t i = from; i < levels; ++i)
    visits.push_back(way[i].least);
  std::unordered_set<int64_t> all(visits.begin(), visits.end());
  for (size_t done = 1; done < visits.size();) {
    int64_t length = visits[done], radix = 1;
    std::vector<int64_t> pattern(visits.begin(), visits.begin() + done);
    for (;; ++radix) {
      size_t at = done;
      bool fits = true;
      for (int64_t offset : pattern) {
        int64_t position = radix * length + offset;
        if (at < visits.size() && visits[at] == position)
          ++at;
        else if (all.count(position))
          fits = false; // it is visited at another time
      }
      if (!fits || at == done)
        break;
      done = at;
    }
    if (radix == 1)
      return std::nullopt;
    digits.push_back({length, radix, Form::Chain});
  }
  return digits;
}

/// Every way to read the levels from `at` on as digits whose parts are complete
/// partials; longer digits first.
void Recogniser::merges(size_t at, std::vector<Found> &digits) {
  if (trials >= mostTrials)
    return;
  if (at == way.size()) {
    tryText(digits);
    return;
  }
  if (best && digits.size() + 1 >= best->partition.digits().size())
    return;
  int64_t first = way[at].least, leavesOfPart = 1;
  for (size_t i = 0; i < at; ++i)
    leavesOfPart += way[i].leaves;
  auto levelsOf = [&](auto &&leastAt, auto &&partsAt) {
    size_t k = 0;
    while (at + k < way.size() && way[at + k].least == leastAt(k) &&
           way[at + k].leaves <= partsAt(k) * leavesOfPart)
      ++k;
    return k;
  };
  auto power = [](size_t k) { return int64_t(1) << std::min<size_t>(k, 40); };
  struct Choice {
    size_t levels;
    Form form;
  };
  std::vector<Choice> choices{
      {levelsOf([&](size_t k) { return static_cast<int64_t>(k + 1) * first; },
                [](size_t) { return int64_t(1); }),
       Form::Fold},
      {levelsOf([&](size_t k) { return power(k) * first; }, power),
       Form::Pairwise},
      {levelsOf(
           [&](size_t k) { return first % power(k) ? -1 : first / power(k); },
           power),
       Form::Halving}};
  // What two parts are called does not matter; fold is the plainest word.
  std::stable_sort(
      choices.begin(), choices.end(),
      [](const Choice &a, const Choice &b) { return a.levels > b.levels; });
  for (const Choice &choice : choices)
    for (size_t levels = choice.levels; levels > 0; --levels) {
      if (levels == 1 && choice.form != Form::Fold && choice.levels == 1)
        break;
      int64_t parts = choice.form == Form::Fold
                          ? static_cast<int64_t>(levels) + 1
                          : power(levels);
      int64_t length =
          choice.form == Form::Halving ? way[at + levels - 1].least : first;
      digits.push_back({length, parts, choice.form, at, levels});
      merges(at + levels, digits);
      digits.pop_back();
      if (trials >= mostTrials)
        return;
    }
}

/// Writes the digits as a text, builds its tree and compares.
void Recogniser::tryText(const std::vector<Found> &digits) {
  int64_t extent = tree.leaves();
  std::vector<size_t> order(digits.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return digits[a].length > digits[b].length;
  });
  if (order.empty() || digits[order.back()].length != 1)
    return;
  std::string partition;
  std::vector<std::string> names(digits.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const Found &digit = digits[order[k]];
    names[order[k]] = fmt::format("d{}", k);
    bool open =
        k == 0 && digit.form != Form::Halving && digit.form != Form::Fused;
    int64_t covered = 1;
    if (k + 1 < order.size()) {
      const Found &right = digits[order[k + 1]];
      covered = right.length * right.radix;
    }
    partition += fmt::format("{}{}:{}", k ? " " : "", names[order[k]],
                             open ? "*" : std::to_string(digit.radix));
    if (covered != digit.length)
      partition += fmt::format("@{}", digit.length);
  }
  std::vector<std::string> entries;
  for (size_t i = 0; i < digits.size(); ++i)
    entries.push_back(
        names[i] + " " +
        (digits[i].form == Form::Fused
             ? fmt::format("fused({})", atom())
             : std::string(name(digits[i].form)) +
                   (digits[i].levels ? roundings(digits, i) : "")));
  Reduction reduction;
  // Which partials meet is the same with a maximum as without.
  reduction.kind =
      options.kind == ReductionKind::ExpSum ? ReductionKind::Sum : options.kind;
  reduction.start = width > 1 ? Start::Identity : options.start;
  reduction.accumulator = options.accumulator;
  try {
    reduction.partition = Partition::parse(partition);
    reduction.order = MergeOrder::parse(entries);
    ++trials;
    TreeStore store;
    std::optional<TreeId> built = buildTree(store, reduction, {extent, {}, {}});
    if (!built || !(RevealedTree::of(store, *built) == tree))
      return;
  } catch (const RuleError &) {
    return; // no text of the language
  }
  if (!best || digits.size() < best->partition.digits().size())
    best = reduction;
}

Recognised Recogniser::run() {
  const Vertex &root = tree.at(tree.root());
  if (root.any)
    return {std::nullopt,
            "it is the same sum in every order: the accumulator is exact, or "
            "so wide that nothing here is rounded; no partition says that of "
            "sums"};
  if (tree.leaves() > 1 && tree.at(tree.root()).least != 0)
    return {std::nullopt, "the tree has no leaf at position 0"};
  width = stepWidth(tree);
  if (width > 1 && options.kind != ReductionKind::Dot)
    return {std::nullopt,
            fmt::format("{} terms meet in one step, which the language has for "
                        "dots alone",
                        width)};
  if (width > 1 && options.fraction < 1)
    return {std::nullopt,
            fmt::format("{} terms meet in one step, of which it is not known "
                        "how many bits it keeps",
                        width)};
  if (width > 1 && atom().empty())
    return {std::nullopt,
            fmt::format("no atom takes {} terms, keeps {} bits and rounds to "
                        "nearest",
                        width, options.fraction)};
  way = wayOf(tree);
  while (accumulated < way.size() && !way[accumulated].elements.empty())
    ++accumulated;
  // With a single element, one digit that is visited.
  if (way.empty()) {
    tryText({{1, 1, Form::Chain}});
    return {best, "a single element"};
  }
  // Where the accumulator's run ends and merges of partials begin: at the end
  // of one of its digits.
  std::vector<size_t> ends{accumulated};
  if (width == 1) {
    if (std::optional<std::vector<Found>> whole = run(accumulated)) {
      int64_t visited = 1;
      for (const Found &digit : *whole)
        if ((visited *= digit.radix) - 1 < static_cast<int64_t>(accumulated))
          ends.push_back(static_cast<size_t>(visited - 1));
    }
    ends.push_back(0);
  }
  for (size_t end : ends)
    if (std::optional<std::vector<Found>> digits = run(end))
      merges(end, *digits);
  return {best, "no partition of the language writes this tree"};
}

} // namespace

std::vector<Level> wayOf(const RevealedTree &tree) {
  std::vector<Level> way;
  VertexId id = tree.root();
  while (!tree.at(id).isLeaf()) {
    const Vertex &vertex = tree.at(id);
    Level level;
    level.least = tree.at(vertex.children[1]).least;
    bool single = true;
    for (size_t i = 1; i < vertex.children.size(); ++i) {
      const Vertex &child = tree.at(vertex.children[i]);
      level.leaves += child.leaves;
      single &= child.isLeaf();
      level.elements.push_back(child.position);
    }
    if (!single)
      level.elements.clear();
    way.push_back(std::move(level));
    id = vertex.children[0];
  }
  std::reverse(way.begin(), way.end());
  return way;
}

Recognised recognise(const RevealedTree &tree,
                     const RecogniseOptions &options) {
  Recognised found = Recogniser(tree, options).run();
  if (found.reduction)
    found.reason.clear();
  return found;
}

} // namespace bitpact::reveal
