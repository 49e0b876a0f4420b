// CountingTest.cpp - trees of sums of any sign, against the trees that were
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Counting.h"
#include "tests/unit/reveal/Simulated.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace bitpact;
using namespace bitpact::reveal;
using namespace bitpact::reveal::test;
using algebra::Format;
using algebra::ReductionKind;
using algebra::Start;

namespace {

struct Shape {
  const char *partition, *merge;
  int64_t n;
};

const Shape shapes[] = {
    {"all:*", "all chain", 37},
    {"all:*", "all fold", 40},
    {"all:*", "all pairwise", 64},
    {"all:*", "all pairwise", 45},
    {"sweep:* lane:8", "sweep chain, lane halving", 64},
    {"sweep:* lane:8", "sweep chain, lane halving", 61},
    {"sweep:* lane:16 pack:4", "pack chain, sweep chain, lane halving", 300},
    {"sweep:* lane:16 pack:4", "sweep chain, pack chain, lane pairwise", 130},
    {"rank:3@40 tile:* col:8", "col chain, tile fold, rank pairwise", 111},
    {"tile:* pack:8", "pack halving, tile pairwise", 75},
};

std::vector<int64_t> all(int64_t n) {
  std::vector<int64_t> positions(n);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

RevealedTree revealed(Simulated &box) {
  Questions questions(box, {});
  Counting counting(questions, chooseMasks(questions));
  RevealedTree tree = counting.recursive(all(questions.n()));
  if (box.signature().n <= 64)
    CHECK(counting.allPairs() == tree);
  questions.askAgain();
  return tree;
}

} // namespace

TEST_CASE("the tree of a sum is the declared one in every format",
          "[reveal][counting]") {
  for (Format element : {Format::BF16, Format::F16, Format::F32, Format::F64})
    for (const Shape &shape : shapes) {
      Simulated::Options options;
      options.element = element;
      if (element == Format::F64)
        options.accumulator = Format::F64;
      options.output = options.accumulator;
      Simulated box(shape.partition, shape.merge, Start::Identity, shape.n,
                    options);
      CAPTURE(shape.partition, shape.merge, shape.n,
              std::string(algebra::name(element)));
      CHECK(revealed(box) == box.tree());
    }
}

TEST_CASE("units are counted in chunks where few are exact",
          "[reveal][counting]") {
  // 300 units are no number of bf16; partials of 257 are none either.
  for (Format output : {Format::BF16, Format::F16, Format::F32})
    for (const char *merge :
         {"pack chain, sweep chain, lane halving",
          "pack chain, sweep chain, lane halving from bf16 in f16"}) {
      Simulated::Options options;
      options.element = Format::BF16;
      options.output = output;
      Simulated box("sweep:* lane:2 pack:8", merge, Start::First, 1100,
                    options);
      CAPTURE(merge, std::string(algebra::name(output)));
      CHECK(revealed(box) == box.tree());
    }
  Simulated::Options options;
  options.element = options.accumulator = options.output = Format::BF16;
  Simulated box("all:*", "all chain", Start::Identity, 600, options);
  CHECK(revealed(box) == box.tree());
  options.element = options.accumulator = options.output = Format::F16;
  Simulated half("sweep:* lane:4", "sweep chain, lane halving", Start::Identity,
                 600, options);
  CHECK(revealed(half) == half.tree());
}

TEST_CASE("steps of several terms are seen as such", "[reveal][counting]") {
  for (const char *merge : {"k fused(dot.nv(16,25)), step chain",
                            "k fused(dot.nv(8,24)), step chain"})
    for (int64_t n : {16, 64, 90, 300}) {
      Simulated::Options options;
      options.element = Format::BF16;
      options.kind = ReductionKind::Dot;
      std::string width = std::string(merge).substr(15, 2) == "16" ? "16" : "8";
      Simulated box("step:* k:" + width, merge, Start::Identity, n, options);
      CAPTURE(merge, n);
      RevealedTree tree = revealed(box);
      CHECK(tree == box.tree());
      CHECK(tree.widest() ==
            (n > std::stoi(width) ? std::stoi(width) + 1 : std::stoi(width)));
    }
}

TEST_CASE("random trees", "[reveal][counting]") {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    algebra::TreeStore store;
    int64_t n = 1 + static_cast<int64_t>(random() % 120);
    algebra::TreeId root = randomTree(store, n, random);
    Simulated::Options options;
    options.told = trial % 2;
    Simulated box(std::move(store), root, n, options);
    CAPTURE(trial, n);
    CHECK(revealed(box) == box.tree());
  }
}

TEST_CASE("a sum that is exact has no order", "[reveal][counting]") {
  Simulated::Options options;
  options.exact = true;
  Simulated box("all:*", "all chain", Start::Identity, 50, options);
  Questions questions(box, {});
  Masks masks{0x1p30, 0x1p-20, 50, 40};
  Counting counting(questions, masks);
  RevealedTree tree = counting.recursive(all(questions.n()));
  CHECK(tree.at(tree.root()).any);
  CHECK(tree.leaves() == 50);
  CHECK(counting.allPairs() == tree);
}

TEST_CASE("a box that changes its answers is found out", "[reveal][counting]") {
  Simulated box("all:*", "all chain", Start::Identity, 20, {});
  box.disturb = [&](int64_t row, double &result) {
    if (row > 40 && row % 3 == 0 && result != 0)
      result *= 2;
  };
  Questions questions(box, {});
  CHECK_THROWS_AS(
      [&] {
        Counting counting(questions, chooseMasks(questions));
        counting.recursive(all(questions.n()));
        questions.askAgain();
      }(),
      Undetermined);
}

TEST_CASE("a chain takes n - 1 counts, and one that runs backwards few more",
          "[reveal][counting]") {
  Simulated box("all:*", "all chain", Start::Identity, 500, {});
  Questions questions(box, {});
  Masks masks = chooseMasks(questions);
  int64_t before = questions.rows();
  Counting(questions, masks).recursive(all(500));
  CHECK(questions.rows() - before == 499);

  algebra::TreeStore store;
  algebra::TreeId chain = store.first(store.leaf(499));
  for (int64_t i = 498; i >= 0; --i)
    chain = store.step(chain, store.leaf(i));
  Simulated back(std::move(store), chain, 500, {});
  Questions backwards(back, {});
  Masks same = chooseMasks(backwards);
  before = backwards.rows();
  CHECK(Counting(backwards, same).recursive(all(500)) == back.tree());
  CHECK(backwards.rows() - before < 500 * 20);
}
