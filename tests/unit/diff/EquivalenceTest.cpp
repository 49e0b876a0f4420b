// EquivalenceTest.cpp - rules on digits against enumerated trees
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/RuleError.h"
#include "tests/unit/diff/Shapes.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

using namespace bitpact;
using namespace bitpact::diff;
using namespace bitpact::tests;
using algebra::Elements;
using algebra::ReductionKind;
using algebra::State;

namespace {

bool cutAtOffsets(const Shape &a, const Shape &b) {
  return a.reduction.partition.offsetsDigit() ||
         b.reduction.partition.offsetsDigit();
}

/// All elements, some, and random offsets.
std::vector<Elements> elementsOf(std::mt19937_64 &random, int64_t extent,
                                 bool cut) {
  std::vector<Elements> result;
  for (int trial = 0; trial < 3; ++trial) {
    Elements one{extent};
    if (trial)
      for (int64_t i = 0; i < extent; ++i)
        one.present.push_back(random() % (trial == 1 ? 2 : 6) != 0);
    if (cut) {
      one.offsets = {0, extent};
      for (int i = static_cast<int>(random() % 5); i > 0; --i)
        one.offsets.push_back(
            static_cast<int64_t>(random() % static_cast<uint64_t>(extent + 1)));
      std::sort(one.offsets.begin(), one.offsets.end());
    }
    result.push_back(one);
  }
  return result;
}

struct Pair {
  const char *a, *orderA, *b, *orderB;
  int64_t extent; // 0: any
  const char *rules;
};

void checkPair(const Pair &pair, const Shape &a, const Shape &b) {
  INFO(describe(a) << "\n" << describe(b));
  Extents extents;
  if (pair.extent)
    extents.fixed = {pair.extent};
  Decision decision = decide(a, b, extents);
  INFO(decision.text());
  CHECK(decision.verdict == Decision::Equal);
  std::string how = decision.how;
  for (std::string rest = pair.rules; !rest.empty();) {
    size_t space = rest.find(' ');
    CHECK(how.find(rest.substr(0, space) + " (") != std::string::npos);
    rest = space == std::string::npos ? "" : rest.substr(space + 1);
  }
}

} // namespace

TEST_CASE("every rule decides a pair that needs it") {
  // By hand: each line is two ways to write one tree.
  const Pair pairs[] = {
      {"s:* l:4 p:2", "p chain, s chain, l halving", "s:*@8 l:4@2 p:2",
       "p chain, s chain, l halving", 0, "Q1"},
      {"s:* l:4", "l fold, s fold", "s:3 l:4", "l fold, s fold", 12, "Q2"},
      {"s:3 l:8", "s chain, l halving", "s:3@8 l:8", "s chain, l halving", 20,
       "Q1"},
      {"l:8", "l halving", "l:64", "l halving", 8, "Q2"},
      {"i:*", "i fold", "o:1@64 i:*", "i fold, o pairwise", 60, "Q3"},
      {"i:* w:1", "w chain, i chain", "i:*", "i chain", 0, "Q3"},
      {"s:* p:8", "p chain, s chain", "k:*", "k chain", 0, "Q4"},
      {"s:* l:4 p:8", "p chain, s chain, l fold", "s:* l:4 q:2 p:4",
       "p chain, q chain, s chain, l fold", 0, "Q4"},
      {"i:*", "i pairwise", "h:* l:2", "l pairwise, h pairwise", 0, "Q5"},
      {"l:8", "l halving", "a:2 b:4", "a halving, b halving", 8, "Q5"},
      {"l:2", "l fold", "l:2", "l pairwise", 2, "Q6"},
      {"l:2", "l fold", "l:2", "l halving", 2, "Q6"},
      {"s:* l:3", "l fold, s fold", "s:* l:3", "l pairwise, s fold", 0, "Q6"},
      {"s:* l:2", "l fold from f32, s fold", "s:* l:2", "l fold, s fold", 0,
       "Q7"},
  };
  for (const Pair &pair : pairs)
    checkPair(pair, shapeOf(pair.a, pair.orderA), shapeOf(pair.b, pair.orderB));

  checkPair({"", "", "", "", 8, "Q8"},
            shapeOf("s:* l:8", "s carry, l halving", ReductionKind::ExpSum,
                    State::Online),
            shapeOf("s:* l:8", "s chain, l halving", ReductionKind::ExpSum,
                    State::TwoPass));
}

namespace {

/// The value of a tree of f32 additions or maxima, as written in the spec.
float valueOf(const algebra::TreeStore &store, algebra::TreeId id,
              const std::vector<float> &x, bool max) {
  using algebra::TreeKind;
  const algebra::TreeNode &node = store.node(id);
  auto child = [&](size_t i) {
    return valueOf(store, node.children[i], x, max);
  };
  auto two = [&](float a, float b) {
    if (!max)
      return a + b;
    if (std::isnan(a) || std::isnan(b))
      return std::nanf("");
    return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
  };
  switch (node.kind) {
  case TreeKind::Identity:
    return max ? -INFINITY : 0.0f;
  case TreeKind::Leaf:
    return x[static_cast<size_t>(node.position)];
  case TreeKind::First:
    return child(0);
  case TreeKind::Step:
  case TreeKind::Merge:
    return two(child(0), child(1));
  case TreeKind::Any: {
    float all = child(0);
    for (size_t i = 1; i < node.children.size(); ++i)
      all = two(all, child(i));
    return all;
  }
  default:
    FAIL("no such node in these trees");
    return 0;
  }
}

uint32_t bitsOf(float value) {
  return std::isnan(value) ? 0x7fc00000 : std::bit_cast<uint32_t>(value);
}

} // namespace

TEST_CASE("rules on plain steps say equal only where the bits are equal") {
  std::mt19937_64 random(9);
  std::map<int, int> uses;
  for (int trial = 0; trial < 4000; ++trial) {
    int64_t extent = trial % 2 ? 1 + static_cast<int64_t>(random() % 30) : 0;
    Shape a = randomShape(random, extent, false);
    a.plainStep = true;
    if (trial % 3 == 0)
      a.reduction.kind = ReductionKind::Max;
    for (algebra::MergeEntry entry : a.reduction.order.entries())
      if (entry.from || entry.in)
        a.plainStep = false;
    Shape b = reworded(random, a, extent);
    if (!a.plainStep || cutAtOffsets(a, b))
      continue;
    std::optional<int64_t> most;
    if (extent)
      most = extent;
    NormalForm left(a, most), right(b, most);
    if (left != right)
      continue;
    for (int rule : left.applied())
      ++uses[rule];
    INFO(describe(a) << "\n" << describe(b) << "\nextent " << extent);
    constexpr float specials[] = {0.0f, -0.0f, 1e-40f, INFINITY, -INFINITY,
                                  NAN,  1.0f,  -1.0f,  3e38f};
    for (int64_t n = 1; n <= (extent ? extent : 24); ++n)
      for (int kind = 0; kind < 3; ++kind) {
        std::vector<float> x;
        for (int64_t i = 0; i < n; ++i)
          x.push_back(kind == 0   ? -0.0f
                      : kind == 1 ? specials[random() % 9]
                                  : std::ldexp(float(random() % 99) - 49,
                                               int(random() % 30)));
        algebra::TreeStore store;
        bool max = a.reduction.kind == ReductionKind::Max;
        auto first = buildTree(store, a.reduction, {n});
        auto second = buildTree(store, b.reduction, {n});
        REQUIRE(bitsOf(valueOf(store, *first, x, max)) ==
                bitsOf(valueOf(store, *second, x, max)));
        // Trees with additions for steps do not contradict the rules.
        if (!max)
          REQUIRE(treesEqual(a, b, {n}));
      }
  }
  CHECK(uses[9] > 0);
  CHECK(uses[10] > 0);
}

TEST_CASE("rules say equal only where the trees are equal") {
  const char *given = std::getenv("BITPACT_EQUIVALENCE_PAIRS");
  int pairs = given ? std::atoi(given) : 3000;
  std::mt19937_64 random(20261130);
  int equal = 0, missed = 0, shown = 0;
  std::map<int, int> uses;
  for (int trial = 0; trial < pairs; ++trial) {
    int64_t extent = trial % 2 ? 1 + static_cast<int64_t>(random() % 40) : 0;
    Shape a = randomShape(random, extent);
    Shape b =
        trial % 5 ? reworded(random, a, extent) : randomShape(random, extent);
    b.reduction.kind = a.reduction.kind;
    b.reduction.accumulator = a.reduction.accumulator;
    try {
      b.reduction.validate();
    } catch (const algebra::RuleError &) {
      continue;
    }
    std::optional<int64_t> most;
    if (extent)
      most = extent;
    NormalForm left(a, most), right(b, most);
    bool same = left == right, treesSame = true;
    bool cut = cutAtOffsets(a, b);
    for (int64_t n = 1; n <= (extent ? extent : 200) && treesSame;
         n += extent || n < 48 ? 1 : 19)
      for (const Elements &elements : elementsOf(random, n, cut)) {
        // Fewer elements than the extent are a mask of it.
        treesSame &= treesEqual(a, b, elements);
      }
    INFO(describe(a) << "\n"
                     << describe(b) << "\nextent " << extent << "\n"
                     << left.text() << "\n"
                     << right.text());
    if (same) {
      REQUIRE(treesSame);
      ++equal;
      for (int rule : left.applied())
        ++uses[rule];
    } else if (treesSame && !extent) {
      ++missed;
      if (shown++ < 12 && given)
        std::cout << describe(a) << "\n  " << describe(b) << "\n    "
                  << left.text() << "\n    " << right.text() << "\n";
    }
  }
  std::cout << equal << " pairs equal by rules, " << missed
            << " more by trees of extents up to 200\n";
  for (int rule = 1; rule <= 8; ++rule) {
    INFO("rule Q" << rule);
    CHECK(uses[rule] > 0); // else the property says nothing of it
  }
  CHECK(equal > pairs / 10);
}
