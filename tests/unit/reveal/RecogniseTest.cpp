// RecogniseTest.cpp - texts for trees: the same tree, and few digits
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Recognise.h"
#include "tests/unit/reveal/Simulated.h"

#include <catch2/catch.hpp>

using namespace bitpact::algebra;
using namespace bitpact::reveal;
using namespace bitpact::reveal::test;

namespace {

RevealedTree declared(const std::string &partition, const std::string &merge,
                      int64_t n, ReductionKind kind) {
  Reduction reduction;
  reduction.partition = Partition::parse(partition);
  reduction.order = MergeOrder::parse(merge);
  reduction.kind = kind;
  TreeStore store;
  TreeId root = *buildTree(store, reduction, {n, {}, {}});
  return RevealedTree::of(store, root);
}

} // namespace

TEST_CASE("digits of a declared tree are found again", "[reveal][recognise]") {
  struct Case {
    const char *partition, *merge;
    int64_t n;
    /// By hand: what the fewest digits are called.
    const char *found, *foundMerge;
    ReductionKind kind = ReductionKind::Sum;
  };
  const Case cases[] = {
      {"all:*", "all chain", 100, "d0:*", "d0 chain"},
      {"all:*", "all fold", 100, "d0:*", "d0 chain"},
      {"all:*", "all pairwise", 100, "d0:*", "d0 pairwise"},
      {"a:16 b:8", "b chain, a chain", 128, "d0:*", "d0 chain"},
      {"sweep:* lane:512 pack:8", "pack chain, sweep chain, lane halving", 8192,
       "d0:* d1:512 d2:8", "d2 chain, d0 chain, d1 halving"},
      {"sweep:* lane:16 pack:4", "sweep chain, pack chain, lane pairwise", 130,
       "d0:* d1:16 d2:4", "d0 chain, d2 chain, d1 pairwise"},
      {"rank:8@37 tile:* col:8", "col chain, tile fold, rank pairwise", 290,
       "d0:*@37 d1:5 d2:8", "d2 chain, d1 fold, d0 pairwise"},
      {"tile:* pack:8", "pack halving, tile fold", 75, "d0:* d1:8",
       "d1 halving, d0 fold"},
      {"warp:4 lane:32 k:2", "k fold, lane fold, warp fold", 256,
       "d0:* d1:32 d2:2", "d2 chain, d1 fold, d0 fold"},
      {"step:* k:16", "k fused(dot.nv(16,25)), step chain", 90, "d0:* d1:16",
       "d1 fused(dot.nv(16,25)), d0 chain", ReductionKind::Dot},
      {"step:* k:16", "k fused(dot.nv(16,25)), step chain", 20, "d0:* d1:16",
       "d1 fused(dot.nv(16,25)), d0 chain", ReductionKind::Dot},
      {"split:2@64 step:* k:16",
       "k fused(dot.nv(16,25)), step chain, split fold", 128, "d0:* d1:4 d2:16",
       "d2 fused(dot.nv(16,25)), d1 chain, d0 fold", ReductionKind::Dot},
  };
  for (const Case &one : cases) {
    CAPTURE(one.partition, one.merge, one.n);
    RevealedTree tree = declared(one.partition, one.merge, one.n, one.kind);
    RecogniseOptions options;
    options.kind = one.kind;
    options.fraction = 25;
    Recognised found = recognise(tree, options);
    REQUIRE(found.reduction);
    CHECK(found.reduction->partition.text() == one.found);
    CHECK(found.reduction->order.text() == one.foundMerge);
  }
}

TEST_CASE("random structures are found again", "[reveal][recognise]") {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    // Two to four digits in a random order of merging.
    int digits = 1 + static_cast<int>(random() % 4);
    std::vector<std::string> names, entries;
    std::string partition;
    int64_t covered = 1;
    std::vector<std::string> texts;
    for (int i = 0; i < digits; ++i) {
      int64_t radix = 1 << (1 + random() % 4);
      covered *= radix;
      names.push_back(std::string(1, static_cast<char>('a' + i)));
      texts.insert(texts.begin(),
                   names.back() + ":" +
                       (i + 1 == digits ? "*" : std::to_string(radix)));
    }
    for (const std::string &text : texts)
      partition += (partition.empty() ? "" : " ") + text;
    std::shuffle(names.begin(), names.end(), random);
    size_t chains = random() % (names.size() + 1);
    for (size_t i = 0; i < names.size(); ++i) {
      bool open =
          names[i] == std::string(1, static_cast<char>('a' + digits - 1));
      const char *forms[] = {"fold", "pairwise", open ? "fold" : "halving"};
      entries.push_back(names[i] + " " +
                        (i < chains ? "chain" : forms[random() % 3]));
    }
    int64_t n = 1 + static_cast<int64_t>(random() % (2 * covered));
    std::string merge;
    for (const std::string &entry : entries)
      merge += (merge.empty() ? "" : ", ") + entry;
    RevealedTree tree = declared(partition, merge, n, ReductionKind::Sum);
    Recognised found = recognise(tree, {});
    CAPTURE(partition, merge, n, found.reason);
    CHECK(found.reduction);
    if (found.reduction)
      CHECK(found.reduction->partition.size() <= digits);
  }
}

TEST_CASE("a tree that no partition writes is said to be one",
          "[reveal][recognise]") {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    TreeStore store;
    TreeId root = randomTree(store, 40, random);
    Recognised found = recognise(RevealedTree::of(store, root), {});
    CHECK_FALSE(found.reduction);
    CHECK(found.reason == "no partition of the language writes this tree");
  }
}
