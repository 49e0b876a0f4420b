// AbsorptionTest.cpp - trees of sums of squares, read through a norm
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/reveal/Absorption.h"
#include "tests/unit/reveal/Simulated.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace bitpact;
using namespace bitpact::reveal;
using namespace bitpact::reveal::test;
using algebra::Format;
using algebra::Start;

namespace {

RevealedTree revealed(Simulated &box) {
  Questions questions(box, {});
  std::vector<int64_t> all(box.signature().n);
  std::iota(all.begin(), all.end(), 0);
  Absorption oracle(questions, all);
  RevealedTree tree = fromTriples(oracle, all);
  confirmTriples(oracle, tree, all, 200);
  return tree;
}

Simulated::Options norm(Format element, Format output) {
  Simulated::Options options;
  options.element = element;
  options.output = output;
  options.norm = true;
  return options;
}

} // namespace

TEST_CASE("the tree of squares is the declared one", "[reveal][absorption]") {
  for (Format element : {Format::BF16, Format::F16, Format::F32})
    for (Format output : {Format::BF16, Format::F16, Format::F32})
      for (auto [partition, merge, n] :
           std::initializer_list<std::tuple<const char *, const char *, int>>{
               {"all:*", "all chain", 40},
               {"all:*", "all pairwise", 50},
               {"sweep:* lane:8", "sweep chain, lane halving", 61},
               {"sweep:* lane:8 pack:2",
                "pack chain, sweep chain, lane halving", 64},
               {"sweep:* lane:8 pack:2", "sweep chain, pack chain, lane fold",
                100}}) {
        Simulated box(partition, merge, Start::Identity, n,
                      norm(element, output));
        CAPTURE(partition, merge, n, std::string(algebra::name(element)),
                std::string(algebra::name(output)));
        CHECK(revealed(box) == box.tree());
      }
}

TEST_CASE("a sum of a few squares", "[reveal][absorption]") {
  for (Format element : {Format::F32, Format::BF16})
    for (int n : {5, 6, 7, 8, 9, 12}) {
      Simulated box("sweep:* lane:2", "sweep chain, lane halving", Start::First,
                    n, norm(element, Format::F32));
      CAPTURE(n, std::string(algebra::name(element)));
      CHECK(revealed(box) == box.tree());
    }
}

TEST_CASE("random trees of squares", "[reveal][absorption]") {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 20; ++trial) {
    algebra::TreeStore store;
    int64_t n = 12 + static_cast<int64_t>(random() % 60);
    algebra::TreeId root = randomTree(store, n, random);
    Simulated box(std::move(store), root, n,
                  norm(trial % 2 ? Format::BF16 : Format::F32, Format::BF16));
    CAPTURE(trial, n);
    CHECK(revealed(box) == box.tree());
  }
}

TEST_CASE("partials of fewer bits hide the sum's last bit, and that is said",
          "[reveal][absorption]") {
  Simulated box("sweep:* lane:8", "sweep chain, lane halving in bf16",
                Start::Identity, 64, norm(Format::BF16, Format::F32));
  CHECK_THROWS_AS(revealed(box), Undetermined);
}
