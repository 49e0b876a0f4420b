// ProofTest.cpp - which extents decide, and what a proof costs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <filesystem>
#include <set>

using namespace bitpact;
using namespace bitpact::tests;

TEST_CASE("the extents that decide lie around the digits' boundaries") {
  Case fixed = readText(
      sumContract("257", "sweep:* lane:32", R"("sweep chain", "lane fold")"));
  CHECK(interpreter::decisiveExtents(fixed.contract(), fixed.op(), 4096) ==
        std::vector<int64_t>{257});
  CHECK(interpreter::decisiveExtents(fixed.contract(), fixed.op(), 256) ==
        std::vector<int64_t>{});
  Case open = readText(sumContract("\"*\"", "sweep:* lane:8 pack:4",
                                   R"("pack chain", "sweep chain",
                                      "lane pairwise")"));
  // Packs of 4, sweeps of 32 elements.
  CHECK(interpreter::decisiveExtents(open.contract(), open.op(), 65) ==
        std::vector<int64_t>{1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 31, 32, 33, 63,
                             64, 65});
}

TEST_CASE("contracts of any extent are proved at each of them") {
  const char *const trees[][2] = {
      {"sweep:* lane:32", R"("sweep chain", "lane halving")"},
      {"sweep:* lane:64 pack:2",
       R"("pack chain", "sweep chain", "lane pairwise in bf16")"},
      {"all:*", R"("all pairwise")"},
      {"tile:* pack:4", R"("pack fold", "tile pairwise from f16")"},
      {"tile:* pack:8", R"("pack halving", "tile fold in bf16")"}};
  for (auto [partition, merges] : trees)
    for (const char *start : {"identity", "first"}) {
      Case open = readText(sumContract("\"*\"", partition, merges, start));
      for (kernel::ScheduleAttr schedule : allSchedules()) {
        std::optional<Kernel> kernel = lower(open, schedule);
        if (!kernel)
          continue;
        INFO(partition << " " << merges << " " << schedule.text());
        Said said;
        auto proved = interpreter::proveSchedule(open.contract(), open.op(),
                                                 kernel->steps, 200);
        INFO(said.text);
        REQUIRE(succeeded(proved));
      }
    }
}

TEST_CASE("every contract of the library is proved under every schedule") {
  std::set<std::string> operators;
  for (auto &entry : std::filesystem::recursive_directory_iterator(
           BITPACT_CONTRACTS "/library")) {
    if (entry.path().extension() != ".json" ||
        entry.path().filename() == "model.json") // a set of contracts
      continue;
    Case each = readFile(entry.path());
    for (kernel::ScheduleAttr schedule : allSchedules()) {
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      INFO(entry.path() << " " << schedule.text());
      Said said;
      auto proved =
          interpreter::proveSchedule(each.contract(), each.op(), kernel->steps);
      INFO(said.text);
      REQUIRE(succeeded(proved));
      operators.insert(each.op().getSymName().str());
    }
  }
  CHECK(operators.count("sum"));
  CHECK(operators.count("rms_norm"));
}

TEST_CASE("a proof of 4096 elements is cheap") {
  Case norm = readFile(BITPACT_CONTRACTS "/library/qwen3-8b/rms_norm.json");
  for (kernel::ScheduleAttr schedule : allSchedules()) {
    std::optional<Kernel> kernel = lower(norm, schedule);
    if (!kernel)
      continue;
    std::clock_t before = std::clock();
    REQUIRE(succeeded(
        interpreter::proveSchedule(norm.contract(), norm.op(), kernel->steps)));
    double took = 1e3 * double(std::clock() - before) / CLOCKS_PER_SEC;
    UNSCOPED_INFO(schedule.text() << ": " << took << " ms");
    // Around 20 ms on one core; a proof that grows faster than the row shows.
    CHECK(took < 500);
  }
}
