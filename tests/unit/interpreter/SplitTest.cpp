// SplitTest.cpp - several rows a lane, shared rows, blocks between offsets
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Arithmetic.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

kernel::ScheduleAttr columns(int64_t lanes, int64_t vectorBytes, int64_t unroll,
                             int64_t rowsPerLane, int64_t split) {
  return kernel::ScheduleAttr::get(&context(), "row_per_lane", lanes, lanes, 1,
                                   vectorBytes, unroll, vectorBytes == 1,
                                   rowsPerLane, split);
}

kernel::ScheduleAttr rows(int64_t lanes, int64_t subgroup, int64_t vectorBytes,
                          int64_t split) {
  return kernel::ScheduleAttr::get(&context(), "row_per_group", lanes, subgroup,
                                   1, vectorBytes, 16, vectorBytes == 1, 1, split);
}

/// Both widths of a subgroup, wide and narrow accesses, with and without parts.
std::vector<kernel::ScheduleAttr> columnSchedules() {
  return {columns(32, 16, 32, 8, 0), columns(32, 16, 32, 8, 8),
          columns(64, 16, 64, 8, 16), columns(64, 0, 16, 4, 4),
          columns(32, 0, 8, 2, 0),   columns(8, 1, 16, 8, 0),
          columns(8, 1, 16, 4, 8)};
}

std::string columnContract(const std::string &partition,
                           const std::string &merges,
                           const std::string &start = "identity") {
  return R"({"bitpact": 1, "name": "test/columns", "op": "column_sum@1",
  "dims": {"tokens": "*", "hidden": "*"}, "types": {"x": "bf16", "y": "f32"},
  "nodes": {"sum": {"domain": "tokens", "partition": ")" +
         partition + R"(", "merge": [)" + merges + R"(], "start": ")" + start +
         R"(", "precision": {"accumulator": "f32"}}},
  "rounding": {"y": "f32 rne"}, "primitives": {"sum.step": "add.f32"}})";
}

std::string packedContract(const std::string &partition,
                           const std::string &merges) {
  return R"({"bitpact": 1, "name": "test/packed", "op": "packed_column_sum@1",
  "dims": {"tokens": "*", "hidden": "*", "boundaries": "*"},
  "types": {"x": "f32", "offsets": "i32", "y": "f32"},
  "nodes": {"sum": {"domain": "tokens", "offsets": "offsets", "partition": ")" +
         partition + R"(", "merge": [)" + merges +
         R"(], "start": "first", "precision": {"accumulator": "f32"}}},
  "rounding": {"y": "f32 rne"}, "primitives": {"sum.step": "add.f32"}})";
}

reference::Tensor values(algebra::Format format, std::vector<int64_t> shape,
                         std::mt19937 &random) {
  reference::Tensor tensor{format, shape, {}};
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < count; ++i) {
    double value = normal(random) * std::exp2(int(random() % 24) - 12);
    if (random() % 16 == 0)
      value = random() % 2 ? -0.0 : 0.0;
    uint64_t bits = reference::encode(format, value);
    for (int byte = 0; byte < algebra::bytes(format); ++byte)
      tensor.bytes.push_back(uint8_t(bits >> 8 * byte));
  }
  return tensor;
}

reference::Tensor offsetsOf(const std::vector<int32_t> &list) {
  reference::Tensor tensor{algebra::Format::I32, {int64_t(list.size())}, {}};
  tensor.bytes.resize(4 * list.size());
  std::memcpy(tensor.bytes.data(), list.data(), tensor.bytes.size());
  return tensor;
}

/// The oracle's bytes for `extent` tokens of `width` columns.
void agree(const Case &each, const Kernel &kernel, int64_t extent,
           int64_t width, std::mt19937 &random,
           const std::vector<int32_t> &offsets = {}) {
  bool byColumns = each.op().getSymName() != "sum";
  std::vector<int64_t> shape{byColumns ? extent : width,
                             byColumns ? width : extent};
  algebra::Format format =
      *algebra::parseFormat(each.read.canonical["types"]["x"].get<std::string>());
  interpreter::Tensors given{{"x", values(format, shape, random)}};
  interpreter::Dims dims{{"tokens", shape[0]}, {"hidden", shape[1]}};
  if (!offsets.empty()) {
    given["offsets"] = offsetsOf(offsets);
    dims["boundaries"] = int64_t(offsets.size());
  }
  interpreter::Tensors all = given;
  all["y"] = {algebra::Format::F32, {width}, {}};
  Said said;
  bool fault = false;
  auto got = interpreter::interpretNumbers(kernel.steps, all, dims, &fault);
  INFO(said.text);
  REQUIRE(succeeded(got));
  REQUIRE_FALSE(fault);
  REQUIRE(reference::Evaluator(each.read.canonical).run(given, 1)["y"].bytes ==
          got->at("y").bytes);
}

} // namespace

TEST_CASE("columns of any tree, several a lane and shared by programs") {
  const char *const trees[][2] = {
      {"microbatch:*@16 token:16", R"("token chain", "microbatch pairwise")"},
      {"microbatch:*@16 token:16",
       R"("token chain", "microbatch fold from bf16 in bf16")"},
      {"microbatch:*@10 token:10",
       R"("token chain", "microbatch pairwise in f16")"},
      {"all:*", R"("all chain")"},
      {"all:*", R"("all pairwise")"},
      {"part:* token:16", R"("part chain", "token halving")"},
      {"sweep:* lane:64 pack:2",
       R"("pack chain", "sweep chain", "lane halving in bf16")"}};
  std::mt19937 random(7);
  int kernels = 0, split = 0;
  for (auto [partition, merges] : trees)
    for (const char *start : {"identity", "first"}) {
      Case each = readText(columnContract(partition, merges, start));
      for (kernel::ScheduleAttr schedule : columnSchedules()) {
        std::optional<Kernel> kernel = lower(each, schedule);
        if (!kernel)
          continue;
        INFO(partition << " " << merges << " " << schedule.text());
        ++kernels;
        split += kernel->steps.size() == 2;
        // A part of a pack, whole packs, and more than one program.
        for (auto [extent, width] :
             {std::pair<int64_t, int64_t>{1, 1},
              {37, 8},
              {133, 17},
              {64, schedule.rowsPerProgram() + schedule.getRowsPerLane()}})
          agree(each, *kernel, extent, width, random);
        Said said;
        auto proved = interpreter::proveSchedule(each.contract(), each.op(),
                                                 kernel->steps, 70);
        INFO(said.text);
        REQUIRE(succeeded(proved));
      }
    }
  CHECK(kernels >= 60);
  CHECK(split >= 30);
}

TEST_CASE("programs share a row across lanes") {
  const char *const trees[][2] = {
      {"part:*@128 lane:64 pack:2", R"("pack chain", "lane halving",
       "part fold in bf16")"},
      {"part:*@128 lane:64 pack:2", R"("pack chain", "lane pairwise",
       "part pairwise")"},
      {"all:*", R"("all pairwise")"},
      {"all:*", R"("all pairwise from bf16 in f16")"}};
  std::mt19937 random(8);
  int kernels = 0;
  for (auto [partition, merges] : trees) {
    Case each = readText(sumContract("\"*\"", partition, merges));
    for (kernel::ScheduleAttr schedule :
         {rows(32, 32, 16, 128), rows(64, 64, 0, 128), rows(64, 32, 16, 256),
          rows(8, 8, 1, 64)}) {
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      INFO(partition << " " << merges << " " << schedule.text());
      REQUIRE(kernel->steps.size() == 2);
      ++kernels;
      for (auto [extent, width] :
           {std::pair<int64_t, int64_t>{1, 1}, {129, 3}, {1111, 2}, {640, 70}})
        agree(each, *kernel, extent, width, random);
      Said said;
      auto proved = interpreter::proveSchedule(each.contract(), each.op(),
                                               kernel->steps, 400);
      INFO(said.text);
      REQUIRE(succeeded(proved));
    }
  }
  CHECK(kernels >= 10);
}

TEST_CASE("blocks between offsets: empty, single, of a tile and more") {
  const char *const trees[][2] = {
      {"sequence:@offsets tile:*@16 token:16",
       R"("token chain", "tile fold", "sequence fold")"},
      {"sequence:@offsets token:*", R"("token chain", "sequence pairwise")"},
      {"sequence:@offsets tile:*@16 token:16",
       R"("token chain", "tile pairwise", "sequence fold in bf16")"},
      {"sequence:@offsets token:*", R"("token chain", "sequence chain")"}};
  const std::vector<int32_t> lists[] = {
      {0, 70}, {0, 0, 1, 1, 17, 33, 70, 70}, {0, 16, 32, 48, 64, 70},
      {0, 15, 32, 65, 70}};
  std::mt19937 random(9);
  int kernels = 0;
  for (auto [partition, merges] : trees) {
    Case each = readText(packedContract(partition, merges));
    for (kernel::ScheduleAttr schedule : columnSchedules()) {
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      INFO(partition << " " << merges << " " << schedule.text());
      ++kernels;
      for (const std::vector<int32_t> &list : lists)
        for (int64_t width : {3, 16})
          agree(each, *kernel, 70, width, random, list);
      Said said;
      auto proved = interpreter::proveSchedule(each.contract(), each.op(),
                                               kernel->steps, 40);
      INFO(said.text);
      REQUIRE(succeeded(proved));
    }
  }
  CHECK(kernels >= 15);
}

TEST_CASE("offsets that do not ascend from 0 to the extent give NaN") {
  Case each = readText(packedContract(
      "sequence:@offsets tile:*@16 token:16",
      R"("token chain", "tile fold", "sequence fold")"));
  std::mt19937 random(10);
  for (kernel::ScheduleAttr schedule : columnSchedules()) {
    std::optional<Kernel> kernel = lower(each, schedule);
    if (!kernel)
      continue;
    for (const std::vector<int32_t> &list :
         std::vector<std::vector<int32_t>>{{0, 60, 20, 70},
                                           {1, 70},
                                           {0, 69},
                                           {0, 71},
                                           {0, -5, 70},
                                           {0, 2000000000, 70},
                                           {0}}) {
      interpreter::Tensors all{
          {"x", values(algebra::Format::F32, {70, 16}, random)},
          {"offsets", offsetsOf(list)},
          {"y", {algebra::Format::F32, {16}, {}}}};
      INFO(schedule.text());
      Said said; // a read outside of x would be an error
      bool fault = false;
      auto got = interpreter::interpretNumbers(
          kernel->steps, all,
          {{"tokens", 70},
           {"hidden", 16},
           {"boundaries", int64_t(list.size())}},
          &fault);
      INFO(said.text);
      REQUIRE(succeeded(got));
      CHECK(fault);
      for (int64_t i = 0; i < 16; ++i) {
        uint32_t bits;
        std::memcpy(&bits, got->at("y").bytes.data() + 4 * i, 4);
        CHECK(bits == 0x7fc00000);
      }
    }
  }
}

TEST_CASE("kernels that merge parts are proved, and can fail") {
  Case fold = readText(columnContract(
      "microbatch:*@16 token:16", R"("token chain", "microbatch fold")"));
  Case pairwise = readText(columnContract(
      "microbatch:*@16 token:16", R"("token chain", "microbatch pairwise")"));
  std::optional<Kernel> kernel = lower(fold, columns(32, 16, 32, 8, 16));
  REQUIRE(kernel);
  Said said;
  CHECK(failed(interpreter::proveSchedule(pairwise.contract(), pairwise.op(),
                                          kernel->steps, 70)));
  CHECK_THAT(said.text, Contains("does not keep its contract"));
}

TEST_CASE("what cannot be shared or laid side by side is refused") {
  Case serial = readText(columnContract("all:*", R"("all chain")"));
  CHECK_FALSE(lower(serial, columns(32, 16, 32, 8, 16)));
  CHECK(lower(serial, columns(32, 16, 32, 8, 0)));
  // Rows of `sum` lie apart, so a lane cannot have neighbouring ones.
  Case sum = readText(sumContract("\"*\"", "all:*", R"("all pairwise")"));
  CHECK_FALSE(lower(sum, columns(32, 16, 32, 8, 0)));
  // Parts of two elements are no work for a program.
  Case small = readText(sumContract(
      "\"*\"", "part:*@2 pair:2", R"("pair chain", "part fold")"));
  CHECK_FALSE(lower(small, columns(32, 16, 32, 1, 4096)));
}
