// GroupedCheckTest.cpp - rows between offsets: what check finds in kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/evidence/Temporary.h"
#include "tests/unit/evidence/TestPackage.h"
#include "tools/evidence/Check.h"

#include <catch2/catch.hpp>

using namespace bitpact::evidence;
using namespace bitpact::tests;

namespace {

const Progress silent = [](const std::string &, int64_t, int64_t) {};

struct Checked {
  Temporary temporary;
  std::unique_ptr<Package> package;
  CheckReport report;

  explicit Checked(const std::string &entry,
                   std::vector<int64_t> rows = {1, 2, 9, 70},
                   std::vector<Recipe> recipes = allRecipes(),
                   std::vector<int64_t> columns = {1, 5}) {
    writeTestPackage(temporary.file("p"), {groupedContract(21)}, {entry});
    package = std::make_unique<Package>(temporary.file("p"));
    CheckOptions options;
    options.devices = {"cpu"};
    options.rows = std::move(rows);
    options.recipes = std::move(recipes);
    options.repeat = 1;
    options.extents = {{"out", std::move(columns)}};
    report = check(*package, options, silent);
  }
  const Difference &first() const {
    REQUIRE(report.variants.at(0).first);
    return *report.variants.at(0).first;
  }
};

} // namespace

TEST_CASE("a kernel of rows between offsets is checked in every way") {
  Checked checked("grouped_right");
  CHECK(checked.report.equal());
  // 8 recipes, 2 numbers of experts and of boundaries, 2 of columns, 4 of rows,
  // 4 layouts.
  CHECK(checked.report.cases == 8 * 2 * 2 * 2 * 4 * 4);
  // Rows alone, in launches of their own.
  CHECK(checked.report.variants[0].launches ==
        checked.report.cases + 8 * 2 * 2 * 2 * (2 + 9 + 3));
}

TEST_CASE("a block that mixes experts is found") {
  CHECK(Checked("grouped_first_of_four").first().tensor == "y");
}

TEST_CASE("a tree that follows how many rows an expert has is found") {
  Checked checked("grouped_long_blocks");
  CHECK(checked.first().tensor == "y");
  // Few rows hide it.
  CHECK(Checked("grouped_long_blocks", {1, 2, 8}).report.equal());
}

TEST_CASE("a fault that is not noted, and rows that are no NaN, are found") {
  CHECK(Checked("grouped_silent").first().tensor == "fault word");
  CHECK(Checked("grouped_no_nan").first().tensor == "y");
  // Offsets in the wrong order between ends that are right.
  CHECK_FALSE(Checked("grouped_unsorted").report.equal());
}

TEST_CASE("experts that are taken to lie side by side are found") {
  // Of a single column the launch passes no stride.
  CHECK(Checked("grouped_dense", {9}, {Recipe::Dense}, {5}).first().layout ==
        "strided");
}
