// RowsTest.cpp - chosen rows have the bytes that they have among all rows
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <random>
#include <stdexcept>

using namespace bitpact;
using namespace bitpact::tests;
using reference::Evaluator;

namespace {

Tensor randomTensor(std::vector<int64_t> shape, unsigned seed) {
  std::mt19937 random(seed);
  return tests::randomTensor(std::move(shape), random);
}

} // namespace

TEST_CASE("outputs at places are those of the whole product") {
  Evaluator evaluator(dotContract(NodeText{}));
  REQUIRE(evaluator.rowDims().size() == 2);
  Evaluator::Tensors inputs{{"a", randomTensor({7, 33}, 1)},
                            {"b", randomTensor({5, 33}, 2)}};
  auto whole = evaluator.run(inputs);
  REQUIRE(whole.size() == 1);
  std::vector<uint64_t> all = bitsOf(whole.begin()->second);
  const std::vector<Evaluator::Place> places{{6, 4}, {0, 0}, {3, 4}, {3, 1}};
  for (unsigned threads : {1u, 3u, 9u}) {
    auto some = evaluator.runAt(inputs, places, threads);
    std::vector<uint64_t> bits = bitsOf(some.begin()->second);
    REQUIRE(bits.size() == all.size());
    for (int64_t row = 0; row < 7; ++row)
      for (int64_t column = 0; column < 5; ++column) {
        bool chosen = false;
        for (const Evaluator::Place &place : places)
          chosen |= place == Evaluator::Place{row, column};
        CHECK(bits[row * 5 + column] == (chosen ? all[row * 5 + column] : 0));
      }
  }
  CHECK(bitsOf(evaluator.runAt(inputs, {}).begin()->second) ==
        std::vector<uint64_t>(35));
}

TEST_CASE("places that there are not") {
  Evaluator evaluator(dotContract(NodeText{}));
  Evaluator::Tensors inputs{{"a", randomTensor({7, 33}, 1)},
                            {"b", randomTensor({5, 33}, 2)}};
  CHECK_THROWS_AS(evaluator.runAt(inputs, {{7, 0}}), std::out_of_range);
  CHECK_THROWS_AS(evaluator.runAt(inputs, {{0, -1}}), std::out_of_range);
  CHECK_THROWS_AS(evaluator.runAt(inputs, {{0}}), std::out_of_range);
}

TEST_CASE("rows that share an operand are evaluated with their own") {
  // Both orders of the rows: what changes from one row to the next differs.
  Evaluator evaluator(dotContract(NodeText{}));
  Evaluator::Tensors inputs{{"a", randomTensor({3, 4}, 3)},
                            {"b", randomTensor({3, 4}, 4)}};
  std::vector<double> a = valuesOf(inputs.at("a")),
                      b = valuesOf(inputs.at("b"));
  std::vector<double> y = valuesOf(evaluator.run(inputs, 1).begin()->second);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j)
      CHECK(y[i * 3 + j] == dotRow(NodeText{},
                                   {a.begin() + i * 4, a.begin() + i * 4 + 4},
                                   {b.begin() + j * 4, b.begin() + j * 4 + 4}));
}
