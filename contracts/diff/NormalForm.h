// NormalForm.h - one form for many texts of a tree (rules Q1-Q10)
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BITPACT_DIFF_NORMALFORM_H
#define BITPACT_DIFF_NORMALFORM_H

#include "contracts/algebra/TreeBuilder.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bitpact::diff {

/// A reduction and what else decides whether two texts mean the same.
struct Shape {
  algebra::Reduction reduction;
  /// The step primitive is one IEEE addition, so that taking an element is a
  /// merge with it; or one maximum.
  bool plainStep = false;
};

/// A digit with its entry of the merge order.
struct Piece {
  int id;
  bool offsets = false;
  /// Blocks at most; 0 where that is open. Only merges by bits depend on it.
  int64_t radix = 0;
  int64_t length = 1;
  algebra::Form form{};
  std::optional<algebra::Format> from{}, in{};
  std::optional<algebra::Atom> atom{};
  bool merge = false;
  bool stated = false;
};

/// Rules by number; all of them unless said otherwise.
using RuleSet = std::set<int>;
RuleSet allRules();
/// "Q4": "neighbouring digits that one chain visits are one digit".
std::string ruleText(int rule);

/// Digits and entries after the rules. Two shapes with equal normal forms have
/// equal trees (with Q9 and Q10: equal bits) for every extent up to the one it
/// was made for, every choice of present elements and all offsets.
class NormalForm {
public:
  /// `extent`: the largest; nothing for any.
  NormalForm(const Shape &shape, std::optional<int64_t> extent,
             const RuleSet &rules = allRules());

  bool operator==(const NormalForm &other) const {
    return text() == other.text();
  }
  std::string text() const;
  /// The rules that changed something.
  const RuleSet &applied() const { return used; }

private:
  bool has(int rule) const { return rules.count(rule) != 0; }
  bool apply(int rule, bool changed);
  bool dropFormats();
  bool clip();
  bool dropSingles();
  bool fuse();
  bool toBits();
  bool toPairwise();
  bool settleState();
  void chainToFold();

  int place(int id) const;
  bool isLastAboveChains(int entry) const;
  bool hasCarry() const;

  std::vector<Piece> digits; ///< in the order of Π
  std::vector<int> order;    ///< ids, innermost merge first
  algebra::Start start;
  algebra::State state;
  algebra::ReductionKind kind;
  algebra::Format accumulator;
  bool plainStep;
  int nextId = 0;
  std::optional<int64_t> extent;
  RuleSet rules, used;
};

} // namespace bitpact::diff

#endif // BITPACT_DIFF_NORMALFORM_H
