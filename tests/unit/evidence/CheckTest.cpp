// CheckTest.cpp - check finds planted faults, by name, and nothing else
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/Check.h"
#include "tests/unit/evidence/Temporary.h"
#include "tests/unit/evidence/TestPackage.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>

using namespace bitpact::evidence;
using namespace bitpact::tests;
using Catch::Matchers::Contains;

namespace {

const Progress silent = [](const std::string &, int64_t, int64_t) {};

struct Checked {
  Temporary temporary;
  std::unique_ptr<Package> package;
  CheckReport report;

  Checked(const nlohmann::json &contract,
          const std::vector<std::string> &entries,
          std::vector<int64_t> rows = {1, 3, 33}, int64_t alignX = 0) {
    writeTestPackage(temporary.file("p"), {contract}, entries, alignX);
    package = std::make_unique<Package>(temporary.file("p"));
    CheckOptions options;
    options.devices = {"cpu"};
    options.rows = std::move(rows);
    report = check(*package, options, silent);
  }
  const Difference &first(size_t variant) const {
    REQUIRE(report.variants.at(variant).first);
    return *report.variants.at(variant).first;
  }
};

} // namespace

TEST_CASE("right kernels of one tree have no differing byte") {
  for (int64_t hidden : {8, 43, 257}) {
    Checked sum(sumContract(hidden), {"sum_right", "sum_right_blocks"});
    CHECK(sum.report.equal());
    CHECK(sum.report.complete());
    CHECK(sum.report.differing() == 0);
    REQUIRE(sum.report.variants.size() == 2);
    for (const VariantReport &one : sum.report.variants)
      CHECK(one.launches > 100);
    // One answer per kind of data serves all row counts and variants.
    CHECK(sum.report.oracleRuns == int64_t(allRecipes().size()));
  }
  Checked norm(normContract(), {"norm_right"});
  CHECK(norm.report.equal());
}

TEST_CASE("planted faults are found, each where it is") {
  SECTION("halving for pairwise") {
    Checked checked(sumContract(), {"sum_right", "sum_pairwise"});
    CHECK_FALSE(checked.report.equal());
    CHECK_FALSE(checked.report.variants[0].first);
    CHECK(checked.first(1).tensor == "y");
    CHECK(checked.first(1).against == "the reference evaluator");
    CHECK(checked.first(1).coordinate.size() == 1);
  }
  SECTION("a skipped tail") {
    Checked checked(sumContract(), {"sum_skipped_tail"});
    CHECK(checked.first(0).recipe == "normal");
    CHECK(checked.first(0).dims.at("tokens") == 1);
    // 40 of 40 elements are a whole number of blocks: no tail, no fault.
    CHECK(Checked(sumContract(40), {"sum_skipped_tail"}).report.equal());
  }
  SECTION("a contracted fma") {
    Checked checked(normContract(43, "f32"),
                    {"norm_right_f32", "norm_contracted_fma_f32"});
    CHECK_FALSE(checked.report.variants[0].first);
    // Normal data has exact products, which a fused step does not change.
    CHECK(checked.first(1).recipe == "dense");
  }
  SECTION("a dropped rounding") {
    Checked checked(normContract(), {"norm_dropped_rounding"});
    CHECK(checked.first(0).recipe == "normal");
    CHECK(checked.first(0).coordinate.size() == 2);
    CHECK(checked.first(0).expected != checked.first(0).actual);
    // And the other way round.
    CHECK_FALSE(
        Checked(normContract(43, "f32"), {"norm_right"}).report.equal());
  }
  SECTION("an approximate square root") {
    Checked checked(normContract(), {"norm_approximate_sqrt"});
    CHECK_FALSE(checked.report.equal());
  }
  SECTION("a NaN that is not the canonical one") {
    Checked checked(sumContract(), {"sum_nan_bits"}, {9});
    CHECK(checked.first(0).recipe == "special");
    CHECK(checked.first(0).expected == "0x7fc00000");
  }
}

TEST_CASE("faults around the arithmetic") {
  SECTION("a row that is not written shows its canary") {
    Checked checked(sumContract(), {"sum_last_row_unwritten"}, {3});
    CHECK(checked.first(0).coordinate == std::vector<int64_t>{2});
    CHECK(checked.first(0).actual == "0xa5a5a5a5");
  }
  SECTION("a write behind the output") {
    Checked checked(sumContract(), {"sum_writes_outside"}, {3});
    CHECK(checked.first(0).against == "what lay around the tensor");
    REQUIRE(checked.first(0).stray);
    CHECK(*checked.first(0).stray == 12);
  }
  SECTION("a read of padding meets NaN") {
    Checked checked(sumContract(), {"sum_reads_padding"}, {3});
    CHECK(checked.first(0).layout == "strided");
    CHECK(checked.first(0).actual == "0x7fc00000");
  }
  SECTION("an input that is changed") {
    Checked checked(sumContract(), {"sum_changes_input"}, {2});
    CHECK(checked.first(0).tensor == "x");
    CHECK_THAT(checked.first(0).against, Contains("before the launch"));
  }
  SECTION("rows whose bits depend on the batch") {
    Checked below(sumContract(), {"sum_looks_at_batch"}, {1, 255});
    CHECK(below.report.equal());
    Checked above(sumContract(), {"sum_looks_at_batch"}, {1, 256});
    CHECK(above.first(0).dims.at("tokens") == 256);
  }
  SECTION("launches that differ among themselves") {
    Checked checked(sumContract(), {"sum_unstable"}, {3});
    CHECK_FALSE(checked.report.equal());
  }
}

TEST_CASE("variants that are wrong alike are listed together") {
  Checked checked(
      sumContract(),
      {"sum_right", "sum_pairwise", "sum_skipped_tail", "sum_right_blocks"},
      {5});
  CHECK(checked.first(1).sameBytes.empty());
  Checked twins(sumContract(), {"sum_pairwise", "sum_looks_at_batch"}, {300});
  REQUIRE(twins.first(0).sameBytes.size() == 1);
  CHECK_THAT(twins.first(0).sameBytes[0], Contains("sum_looks_at_batch"));
}

TEST_CASE("what a variant's conditions exclude is told, not failed") {
  Checked checked(sumContract(40), {"sum_right", "sum_right_blocks"}, {3}, 16);
  CHECK(checked.report.equal());
  CHECK(checked.report.variants[0].excluded.count("misaligned") == 1);
  CHECK(checked.report.variants[0].excluded.count("contiguous") == 0);
  CHECK(checked.report.variants[1].excluded.empty());
}

TEST_CASE("no evidence is told apart from equality") {
  Temporary temporary;
  writeTestPackage(temporary.file("p"), {sumContract()}, {});
  Package package(temporary.file("p"));
  CheckOptions options;
  options.devices = {"cpu"};
  options.rows = {1};
  CheckReport report = check(package, options, silent);
  CHECK(report.equal());
  CHECK_FALSE(report.complete());
  options.contract = "nothing";
  CHECK_THROWS_WITH(check(package, options, silent),
                    Contains("no contract 'nothing'; the package holds") &&
                        Contains("test/sum (sum@1)"));
  options.devices = {"cuda:7"};
  options.contract.clear();
  CHECK_THROWS_AS(check(package, options, silent), UserError);
}
