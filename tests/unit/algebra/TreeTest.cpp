// TreeTest.cpp - explicit trees against trees written by hand
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/algebra/TreeBuilder.h"
#include "tests/unit/algebra/ExpectRule.h"

using namespace bitpact::algebra;

static Reduction reduction(const std::string &partition,
                           const std::string &order,
                           Start start = Start::Identity,
                           ReductionKind kind = ReductionKind::Sum) {
  return {Partition::parse(partition), MergeOrder::parse(order), kind, start,
          Format::F32};
}

static std::string tree(const Reduction &r, const Elements &elements) {
  TreeStore store;
  std::optional<TreeId> root = buildTree(store, r, elements);
  return root ? store.expression(*root) : "empty";
}

/// With start first a chain of one is `chain(xi)`; short for single elements.
static std::string shortTree(const std::string &partition,
                             const std::string &order,
                             const Elements &elements) {
  std::string text = tree(reduction(partition, order, Start::First), elements);
  for (size_t at; (at = text.find("chain(x")) != std::string::npos;) {
    size_t end = text.find(')', at);
    text = text.substr(0, at) + text.substr(at + 7, end - at - 7) +
           text.substr(end + 1);
  }
  return text;
}

TEST_CASE("consecutive chains are one accumulator") {
  Reduction r = reduction("sweep:* lane:2 pack:2",
                          "pack chain, sweep chain, lane halving");
  CHECK(tree(r, {8}) ==
        "(chain(id, x0, x1, x4, x5) + chain(id, x2, x3, x6, x7))");
  CHECK(tree(r, {7}) == "(chain(id, x0, x1, x4, x5) + chain(id, x2, x3, x6))");
  CHECK(tree(r, {5}) == "(chain(id, x0, x1, x4) + chain(id, x2, x3))");
  CHECK(tree(r, {2}) == "chain(id, x0, x1)"); // lane 1 is empty
  // The last-listed digit is outermost: pack 0 of all sweeps, then pack 1.
  CHECK(tree(reduction("sweep:* lane:2 pack:2",
                       "sweep chain, pack chain, lane halving"),
             {8}) == "(chain(id, x0, x4, x1, x5) + chain(id, x2, x6, x3, x7))");
  // A run goes on over all digits, wherever they stand.
  CHECK(tree(reduction("a:2 b:2 c:2", "a chain, c chain, b chain"), {8}) ==
        "chain(id, x0, x4, x1, x5, x2, x6, x3, x7)");
  r.start = Start::First;
  CHECK(tree(r, {5}) == "(chain(x0, x1, x4) + chain(x2, x3))");
}

TEST_CASE("fold, pairwise and halving over single elements") {
  CHECK(shortTree("k:*", "k fold", {4}) == "(((0 + 1) + 2) + 3)");
  CHECK(shortTree("k:*", "k pairwise", {4}) == "((0 + 1) + (2 + 3))");
  CHECK(shortTree("k:*", "k pairwise", {5}) == "(((0 + 1) + (2 + 3)) + 4)");
  CHECK(shortTree("k:*", "k pairwise", {7}) ==
        "(((0 + 1) + (2 + 3)) + ((4 + 5) + 6))");
  CHECK(shortTree("k:8", "k halving", {8}) ==
        "(((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)))");
  CHECK(shortTree("k:8", "k halving", {5}) == "(((0 + 4) + 2) + (1 + 3))");
  CHECK(shortTree("k:8", "k halving", {3}) == "((0 + 2) + 1)");
  CHECK(shortTree("k:8", "k halving", {1}) == "0");
  CHECK(tree(reduction("k:2", "k pairwise"), {2}) ==
        "(chain(id, x0) + chain(id, x1))");
}

TEST_CASE("merges in an order that is not the digits'") {
  // The outer digit is merged first: columns, then the row of their sums.
  CHECK(shortTree("a:2 b:3", "a fold, b fold", {6}) ==
        "(((0 + 3) + (1 + 4)) + (2 + 5))");
  CHECK(shortTree("a:2 b:3", "b fold, a fold", {6}) ==
        "(((0 + 1) + 2) + ((3 + 4) + 5))");
  CHECK(shortTree("a:2 b:3", "a fold, b fold", {4}) == "(((0 + 3) + 1) + 2)");
}

TEST_CASE("stated lengths and * anywhere") {
  CHECK(tree(reduction("rank:2@5 tile:* col:2",
                       "col chain, tile fold, rank pairwise"),
             {10}) ==
        "(((chain(id, x0, x1) + chain(id, x2, x3)) + chain(id, x4)) + "
        "((chain(id, x5, x6) + chain(id, x7, x8)) + chain(id, x9)))");
  CHECK(tree(reduction("a:2@3 k:*", "k chain, a fold"), {5}) ==
        "(chain(id, x0, x1, x2) + chain(id, x3, x4))");
  CHECK(tree(reduction("a:*@3 k:4", "k chain, a fold"), {7}) ==
        "((chain(id, x0, x1, x2) + chain(id, x3, x4, x5)) + chain(id, x6))");
  // A digit that is longer than its block is clipped to it, not carried on.
  CHECK(tree(reduction("a:2@3 b:2@2 c:2", "c chain, b chain, a fold"), {6}) ==
        "(chain(id, x0, x1, x2) + chain(id, x3, x4, x5))");
}

TEST_CASE("a vocabulary over eight ranks") {
  Reduction r = reduction("rank:8@18992 tile:* col:128",
                          "col chain, tile pairwise, rank fold");
  TreeStore store;
  TreeId root = *buildTree(store, r, {151936});
  CHECK(store.leaves(root).size() == 151936);
  // fold: the last merge takes rank 7, whose tiles begin anew at its own start.
  TreeId last = store.node(root).children[1];
  std::vector<int64_t> leaves = store.leaves(last);
  CHECK(leaves.front() == 7 * 18992);
  CHECK(leaves.size() == 18992);
  // Its 149 tiles by bits: 128, and 21 = 16 + 4 + 1. The last has 48 columns.
  TreeId low = store.node(last).children[0],
         high = store.node(last).children[1];
  CHECK(store.leaves(low).size() == 128 * 128);
  CHECK(store.leaves(high).size() == 20 * 128 + 48);
  TreeId lastTile = store.node(high).children[1];
  CHECK(store.leaves(lastTile).size() == 4 * 128 + 48);
  CHECK(store.leaves(store.node(lastTile).children[1]).size() == 48);
}

TEST_CASE("empty parts keep their place and merge without an operation") {
  // Blocks 0, 2, 3 of four; over survivors it would be ((0 + 1) + 2).
  Elements packed{3, {}, {0, 1, 1, 2, 3}};
  CHECK(shortTree("s:@offsets k:*", "k chain, s pairwise", packed) ==
        "(0 + (1 + 2))");
  CHECK(tree(reduction("s:@offsets k:*", "k chain, s fold"),
             {5, {}, {0, 2, 2, 5}}) ==
        "(chain(id, x0, x1) + chain(id, x2, x3, x4))");
  CHECK(tree(reduction("r:2@3 s:@offsets k:*", "k chain, s fold, r fold"),
             {6, {}, {0, 2, 5, 6}}) == "((chain(id, x0, x1) + chain(id, x2)) + "
                                       "(chain(id, x3, x4) + chain(id, x5)))");
  // A mask is the same: trees are over positions.
  CHECK(shortTree("k:4", "k pairwise", {4, {1, 0, 1, 1}}) == "(0 + (2 + 3))");
  CHECK(shortTree("k:4", "k halving", {4, {0, 1, 1, 1}}) == "(2 + (1 + 3))");
  CHECK(shortTree("k:*", "k fold", {4, {0, 1, 0, 1}}) == "(1 + 3)");
  CHECK(tree(reduction("a:2 b:2", "b chain, a fold"), {4, {0, 0, 0, 1}}) ==
        "chain(id, x3)");
  CHECK(tree(reduction("k:4", "k pairwise"), {4, {0, 0, 0, 0}}) == "empty");
}

TEST_CASE("atom steps are sets in a chain") {
  Reduction r = reduction("step:* k:4", "k fused(dot.nv(4,25)), step chain",
                          Start::Identity, ReductionKind::Dot);
  CHECK(tree(r, {10}) == "fused(id; x0 x1 x2 x3; x4 x5 x6 x7; x8 x9)");
  CHECK(tree(r, {9, {1, 1, 0, 1, 0, 0, 0, 0, 1}}) == "fused(id; x0 x1 x3; x8)");
  r.order = MergeOrder::parse("k fused(dot.nv(4,25)), step fold");
  CHECK(tree(r, {5}) == "(fused(id; x0 x1 x2 x3) + fused(id; x4))");
}

TEST_CASE("roundings enter and leave a merge") {
  CHECK(tree(reduction("k:2", "k pairwise from bf16 in f16"), {2}) ==
        "f16((bf16(chain(id, x0)) + bf16(chain(id, x1))))");
  // A part alone is rounded by from, and not by in.
  CHECK(tree(reduction("k:2", "k pairwise from bf16 in f16"), {1}) ==
        "bf16(chain(id, x0))");
  CHECK(tree(reduction("k:2", "k pairwise in f16"), {1}) == "chain(id, x0)");
  // Rounding to what contains the accumulator is none.
  CHECK(tree(reduction("k:2", "k fold from f64 in f32"), {2}) ==
        "(chain(id, x0) + chain(id, x1))");
  // What `in bf16` rounded, `from bf16` does not round again.
  Reduction once = reduction("a:2 b:2", "b fold in bf16, a fold");
  Reduction twice = reduction("a:2 b:2", "b fold in bf16, a fold from bf16");
  CHECK_FALSE(firstDifference(once, twice, {{4}}).has_value());
  CHECK(firstDifference(once, twice, {{4}, {3}})->extent == 3);
}

TEST_CASE("any is a set") {
  Reduction r =
      reduction("a:2 b:2", "b any, a any", Start::First, ReductionKind::Max);
  CHECK(tree(r, {4}) == "any(chain(x0), chain(x1), chain(x2), chain(x3))");
  Reduction other =
      reduction("a:2 b:2", "a any, b any", Start::First, ReductionKind::Max);
  CHECK_FALSE(firstDifference(r, other, {{1}, {2}, {3}, {4}}).has_value());
}

TEST_CASE("equality swaps merges and permutes atoms, and nothing else") {
  TreeStore s;
  TreeId a = s.leaf(0), b = s.leaf(1), c = s.leaf(2), id = s.identity();
  CHECK(s.leaf(0) == a);
  CHECK(s.merge(a, b) == s.merge(b, a));
  CHECK(s.merge(s.merge(a, b), c) == s.merge(c, s.merge(b, a)));
  CHECK(s.merge(s.merge(a, b), c) != s.merge(a, s.merge(b, c)));
  CHECK(s.step(s.step(id, a), b) != s.step(s.step(id, b), a));
  Atom nv = Atom::parse("dot.nv(16,25)"), ampere = Atom::parse("dot.nv(16,24)");
  CHECK(s.fused(nv, id, {a, b, c}) == s.fused(nv, id, {c, a, b}));
  CHECK(s.fused(nv, id, {a, b}) != s.fused(ampere, id, {a, b}));
  CHECK(s.fused(nv, id, {a, b, c}) !=
        s.fused(nv, s.fused(nv, id, {a}), {b, c}));
  CHECK(s.first(a) != s.step(id, a)); // -0 stays, or becomes +0
  CHECK(s.round(Format::BF16, a) != s.round(Format::F16, a));
  CHECK(s.round(Format::F32, s.round(Format::BF16, a)) ==
        s.round(Format::BF16, a));
  CHECK(s.round(Format::F16, s.round(Format::BF16, a)) !=
        s.round(Format::BF16, a));
}

TEST_CASE("equivalence of texts is decided on trees") {
  std::vector<Elements> upTo8;
  for (int64_t n = 1; n <= 8; ++n)
    upTo8.push_back({n});
  auto same = [&](const std::string &p, const std::string &t,
                  const std::string &q, const std::string &u) {
    std::optional<Elements> at =
        firstDifference(reduction(p, t), reduction(q, u), upTo8);
    return at ? at->extent : 0;
  };
  CHECK(same("a:2 b:4", "b pairwise, a pairwise", "k:8", "k pairwise") == 0);
  CHECK(same("a:2 b:4", "a halving, b halving", "k:8", "k halving") == 0);
  CHECK(same("a:* b:4", "b chain, a chain", "k:*", "k chain") == 0);
  CHECK(same("x:8", "x fold", "y:8", "y fold") == 0);
  CHECK(same("k:8", "k fold", "k:8", "k pairwise") == 4);
  CHECK(same("k:8", "k fold", "k:8", "k halving") == 3);
  CHECK(same("k:8", "k pairwise", "k:8", "k halving") == 3);
  CHECK(same("k:8", "k chain", "k:8", "k fold") == 2);
  CHECK(same("a:4 b:2", "b chain, a chain", "a:4 b:2", "a chain, b chain") ==
        3);
}

TEST_CASE("a tree is drawn for people") {
  TreeStore store;
  TreeId root =
      *buildTree(store, reduction("a:2 b:2", "b chain, a fold from bf16"), {4});
  CHECK(store.draw(root) == "+\n"
                            "├─ bf16\n"
                            "│  └─ chain(id, x0, x1)\n"
                            "└─ bf16\n"
                            "   └─ chain(id, x2, x3)\n");
}

TEST_CASE("elements that do not fit are refused") {
  TreeStore store;
  Reduction r = reduction("s:@offsets k:*", "k chain, s fold");
  CHECK_THROWS_AS(buildTree(store, r, {4}), std::invalid_argument);
  CHECK_THROWS_WITH(buildTree(store, r, {4, {1}, {0, 4}}),
                    "the mask must have one entry an element");
  expectRule("PI5", "the extent is 9",
             [&] { buildTree(store, reduction("k:8", "k fold"), {9}); });
  expectRule("T1", "digit 'k' is never merged",
             [&] { buildTree(store, reduction("a:2 k:8", "a fold"), {9}); });
  // Radices far above what is there cost nothing.
  CHECK(shortTree("a:1048576 b:4294967296", "b halving, a pairwise", {3}) ==
        "((0 + 2) + 1)");
}
