// AgreementTest.cpp - every schedule: the oracle's bytes, the declared trees
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/algebra/TreeBuilder.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

using namespace bitpact;
using namespace bitpact::tests;

TEST_CASE("every schedule of generated contracts gives the oracle's bytes") {
  REQUIRE(generated().size() >= 40);
  std::mt19937 random(1);
  int runs = 0;
  std::set<int64_t> lanes;
  for (const Case &each : generated()) {
    reference::Evaluator oracle(each.read.canonical);
    for (kernel::ScheduleAttr schedule : allSchedules()) {
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      INFO(each.name << ", " << schedule.text());
      // A last program of few rows, and where it is cheap a full one.
      int64_t rows = each.extent() > 600 ? 2 : schedule.rowsPerProgram() + 1;
      interpreter::Tensors given = inputs(each, rows, random);
      Said said;
      auto got = interpreter::interpretNumbers(
          kernel->steps, withOutputs(each, given, rows), dims(each, rows));
      INFO(said.text);
      REQUIRE(succeeded(got));
      interpreter::Tensors expected = oracle.run(given, 1);
      for (const auto &[name, tensor] : expected)
        REQUIRE(tensor.bytes == got->at(name).bytes);
      ++runs;
      lanes.insert(schedule.getLanes());
    }
  }
  CHECK(runs >= 200);
  CHECK(lanes == std::set<int64_t>{4, 8, 16, 32, 64, 256, 512});
}

TEST_CASE("random contracts on the lanes of every kind of target") {
  std::vector<std::string> paths = randomContracts();
  REQUIRE(paths.size() >= 500);
  std::mt19937 random(1);
  std::map<int64_t, int> runs; // lanes → kernels
  std::vector<kernel::ScheduleAttr> schedules = allSchedules();
  for (size_t i = 0; i < paths.size(); ++i) {
    Case each = readFile(paths[i]);
    reference::Evaluator oracle(each.read.canonical);
    // Three schedules that can keep the contract, others for each.
    int taken = 0;
    for (size_t k = 0; k < schedules.size() && taken < 3; ++k) {
      kernel::ScheduleAttr schedule = schedules[(i + 5 * k) % schedules.size()];
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      ++taken;
      INFO(paths[i] << ", " << schedule.text());
      int64_t rows = schedule.rowsPerProgram() + 1;
      interpreter::Tensors given = inputs(each, rows, random);
      Said said;
      auto got = interpreter::interpretNumbers(
          kernel->func, withOutputs(each, given, rows), dims(each, rows));
      INFO(said.text);
      REQUIRE(succeeded(got));
      for (const auto &[name, tensor] : oracle.run(given, 1))
        REQUIRE(tensor.bytes == got->at(name).bytes);
      ++runs[schedule.getLanes()];
    }
    CHECK(taken > 0);
  }
  CHECK(runs[32] >= 200);
  CHECK(runs[64] >= 200);
}

TEST_CASE("every schedule of generated contracts has the declared trees") {
  for (const Case &each : generated())
    for (kernel::ScheduleAttr schedule : allSchedules()) {
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      INFO(each.name << ", " << schedule.text());
      int64_t rows = each.extent() > 600 ? 1 : 2;
      Said said;
      auto report = interpreter::interpretTrees(
          each.contract(), each.op(), kernel->steps, each.extent(), rows);
      INFO(said.text);
      REQUIRE(succeeded(report));
      INFO((report->differences.empty() ? "" : report->differences[0]));
      REQUIRE(report->equal());
      REQUIRE(report->trees.size() == rows * each.contract().getNodes().size());
      for (const interpreter::NodeTree &tree : report->trees)
        REQUIRE(tree.computed == tree.declared);
    }
}

TEST_CASE("the kernel of one contract fails the proof of another") {
  // Same digits, other merges: what agreement means if it can fail.
  Case halving = readText(sumContract("257", "sweep:* lane:32",
                                      R"("sweep chain", "lane halving")"));
  Case pairwise = readText(sumContract("257", "sweep:* lane:32",
                                       R"("sweep chain", "lane pairwise")"));
  std::optional<Kernel> kernel =
      lower(halving, schedule("row_per_group", 32, 32, 0, 16));
  REQUIRE(kernel);
  auto report = interpreter::interpretTrees(pairwise.contract(), pairwise.op(),
                                            kernel->steps, 257);
  REQUIRE(succeeded(report));
  REQUIRE(report->trees.size() == 1);
  const interpreter::NodeTree &tree = report->trees[0];
  REQUIRE(tree.computed);
  CHECK(*tree.computed != tree.declared);
  // What was read is the tree that the kernel's own contract declares.
  algebra::Reduction own{
      algebra::Partition::parse("sweep:* lane:32"),
      algebra::MergeOrder::parse("sweep chain, lane halving")};
  CHECK(*tree.computed == algebra::buildTree(*tree.store, own, {257, {}, {}}));
}

TEST_CASE("a part without a partner in the last subgroup is not rounded") {
  // 257 parts on two subgroups: in the last round one lane has a part. Merged
  // whole, 1 + (2^-24 + 2^-50) rounds up; rounded before, it is a tie.
  std::string text = sumContract("257", "all:*", R"("all pairwise in f32")");
  for (auto [from, to] :
       {std::pair("bf16", "f64"),
        {"\"y\": \"f32\"", "\"y\": \"f64\""},
        {"\"accumulator\": \"f32\"", "\"accumulator\": \"f64\""},
        {"f32 rne", "f64 rne"},
        {"add.f32", "add.f64"}})
    text.replace(text.find(from), std::string(from).size(), to);
  Case sum = readText(text);
  reference::Tensor x{algebra::Format::F64, {1, 257}, {}};
  std::vector<double> values(257);
  values[0] = 1;
  values[256] = 0x1p-24 + 0x1p-50;
  x.bytes.resize(257 * 8);
  std::memcpy(x.bytes.data(), values.data(), x.bytes.size());
  for (kernel::ScheduleAttr schedule : allSchedules()) {
    std::optional<Kernel> kernel = lower(sum, schedule);
    if (!kernel) // more lanes than parts
      continue;
    INFO(schedule.text());
    auto got = interpreter::interpretNumbers(
        kernel->steps, withOutputs(sum, {{"x", x}}, 1), dims(sum, 1));
    REQUIRE(succeeded(got));
    double y;
    std::memcpy(&y, got->at("y").bytes.data(), 8);
    CHECK(y == 1 + 0x1p-23);
  }
}
