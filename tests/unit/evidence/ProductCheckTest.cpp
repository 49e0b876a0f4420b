// ProductCheckTest.cpp - products of matrices, evaluated at chosen places
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/evidence/Temporary.h"
#include "tests/unit/evidence/TestPackage.h"
#include "tools/evidence/Check.h"
#include "tools/evidence/Places.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace bitpact::evidence;
using namespace bitpact::tests;

namespace {

const Progress silent = [](const std::string &, int64_t, int64_t) {};

/// 257 x 520 x 512 is more than 2^26; of three rows all is evaluated.
struct Checked {
  Temporary temporary;
  std::unique_ptr<Package> package;
  CheckReport report;

  explicit Checked(const std::vector<std::string> &entries,
                   int64_t samples = 256, std::vector<int64_t> rows = {3, 257},
                   std::vector<Recipe> recipes = {Recipe::Dense}) {
    writeTestPackage(temporary.file("p"), {productContract(520, 512)}, entries);
    package = std::make_unique<Package>(temporary.file("p"));
    CheckOptions options;
    options.devices = {"cpu"};
    options.rows = std::move(rows);
    options.recipes = std::move(recipes);
    options.repeat = 1;
    options.samples = samples;
    report = check(*package, options, silent);
  }
  const Difference &first(size_t variant) const {
    REQUIRE(report.variants.at(variant).first);
    return *report.variants.at(variant).first;
  }
};

bool isChosen(const Place &wanted) {
  std::vector<Place> places = choosePlaces({257, 520}, 256, 1);
  return std::count(places.begin(), places.end(), wanted) > 0;
}

} // namespace

TEST_CASE("a large product is evaluated at places and compared in full") {
  Checked checked({"product_right"});
  CHECK(checked.report.equal());
  CHECK(checked.report.cases == 8);
  CHECK(checked.report.sampledCases == 4);
  REQUIRE(checked.report.sampled.size() == 1);
  const SampledCase &one = checked.report.sampled[0];
  CHECK(one.dims.at("tokens") == 257);
  CHECK(one.outputs == 257 * 520);
  CHECK(one.places >= 256);
  CHECK(one.places < 1024);
  CHECK(one.launch.find("product_right") == 0);
}

TEST_CASE("what is wrong at places is found by the reference evaluator") {
  Checked checked({"product_last_column"}, 256, {257});
  CHECK(checked.first(0).against == "the reference evaluator");
  CHECK(checked.first(0).coordinate[1] == 519);
}

TEST_CASE("what is wrong elsewhere is found by another variant") {
  REQUIRE_FALSE(isChosen({211, 333}));
  Checked checked({"product_right", "product_one_place"}, 256, {257});
  CHECK_FALSE(checked.report.variants[0].first);
  CHECK(checked.first(1).against.find("product_right") == 0);
  CHECK(checked.first(1).coordinate == std::vector<int64_t>{211, 333});
  // All outputs of one case: then no other variant is needed.
  Checked all({"product_one_place"}, 0, {257});
  CHECK(all.report.sampled.empty());
  CHECK(all.first(0).against == "the reference evaluator");
  CHECK(all.first(0).coordinate == std::vector<int64_t>{211, 333});
}

TEST_CASE("the launch that others are compared with agrees with the oracle") {
  Checked checked({"product_everywhere", "product_right"}, 256, {257});
  CHECK(checked.first(0).against == "the reference evaluator");
  CHECK_FALSE(checked.report.variants[1].first);
  CHECK(checked.report.sampled[0].launch.find("product_right") == 0);
}

TEST_CASE("rows that few rows show are compared in many rows") {
  Checked checked({"product_first_rows_of_many"});
  CHECK(checked.first(0).dims.at("tokens") == 257);
  CHECK(checked.first(0).coordinate[0] < 2);
}

TEST_CASE("every kind of data shows in a product") {
  Checked checked({"product_right", "product_everywhere"}, 256, {9},
                  allRecipes());
  CHECK_FALSE(checked.report.variants[0].first);
  for (Recipe recipe : allRecipes()) {
    Checked one({"product_everywhere"}, 256, {9}, {recipe});
    CAPTURE(nameOf(recipe));
    // Not all outputs may be NaN or infinite, where adding 1 changes nothing.
    CHECK(one.first(0).differing > one.first(0).elements / 64);
  }
}
