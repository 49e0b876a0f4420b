// StateTest.cpp - sums whose maximum runs, under every schedule
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

struct Tree {
  const char *partition, *merges, *state;
};

/// Chains, carries and merges of every form below, between and above.
const Tree kTrees[] = {
    {"sweep:* lane:32 pack:4",
     R"("pack chain", "sweep carry", "lane halving merge")", "online"},
    {"sweep:* lane:32 pack:4",
     R"("pack chain", "sweep carry", "lane halving")", "online"},
    {"sweep:* lane:32 pack:4",
     R"("pack chain", "lane halving", "sweep carry")", "online"},
    {"sweep:* step:2 lane:16 pack:2",
     R"("pack chain", "step chain", "sweep carry", "lane pairwise merge")",
     "online"},
    {"sweep:* step:2 lane:16 pack:2",
     R"("pack fold", "sweep carry", "step halving", "lane pairwise merge")",
     "online"},
    {"split:4 sweep:4 lane:16", R"("sweep carry", "lane halving",
     "split fold merge")", "online"},
    {"split:*@96 tile:3 j:4 t:4 c:2", R"("c chain", "j chain", "tile carry",
     "t halving", "split fold merge")", "online"},
    {"all:*", R"("all pairwise merge")", "online"},
    {"lane:32 all:8", R"("all carry", "lane halving merge in bf16")", "online"},
    {"lane:32 half:2 all:4",
     R"("all carry", "half fold from bf16", "lane pairwise merge from f16")",
     "online"},
    {"sweep:* lane:32 pack:4",
     R"("pack chain", "sweep chain", "lane halving")", "two_pass"},
    {"sweep:* lane:16", R"("sweep chain", "lane fold")", "two_pass"}};

} // namespace

TEST_CASE("states are proved under every schedule, at every extent") {
  int proofs = 0;
  for (const Tree &tree : kTrees)
    for (const char *start : {"identity", "first"})
      for (const char *vocab : {"\"*\"", "250", "64", "31"}) {
        std::string partition = tree.partition;
        if (vocab[0] == '"' && partition.find('*') == std::string::npos)
          continue; // these digits cover 256 elements
        Case each = readText(stateContract(vocab, partition, tree.merges,
                                           tree.state, start));
        for (kernel::ScheduleAttr narrow : allSchedules())
          for (int64_t ahead : {0, 1}) {
            kernel::ScheduleAttr schedule = narrow.withAhead(ahead);
            std::optional<Kernel> kernel = lower(each, schedule);
            if (!kernel)
              continue;
            INFO(vocab << " " << partition << " " << tree.merges << " "
                       << schedule.text());
            Said said;
            auto proved = interpreter::proveSchedule(
                each.contract(), each.op(), kernel->func, 300);
            INFO(said.text);
            REQUIRE(succeeded(proved));
            ++proofs;
          }
      }
  CHECK(proofs > 300);
}

TEST_CASE("a kernel of one state fails the proof of another") {
  const char *const lanes = "sweep:* lane:32 pack:4";
  Case own = readText(stateContract(
      "300", lanes, R"("pack chain", "sweep carry", "lane halving merge")",
      "online"));
  Case shared = readText(stateContract(
      "300", lanes, R"("pack chain", "sweep carry", "lane halving")",
      "online"));
  std::optional<Kernel> kernel =
      lower(own, schedule("row_per_group", 32, 32, 16, 4));
  REQUIRE(kernel);
  auto report = interpreter::interpretTrees(shared.contract(), shared.op(),
                                            kernel->func, 300);
  REQUIRE(succeeded(report));
  CHECK(!report->equal());
}
