// RecordTest.cpp - one record a launch, and what happens when there are too
// many Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <atomic>
#include <set>
#include <thread>

using namespace bitpact;
using namespace bitpact::test;
using nlohmann::json;

static std::vector<json> drain(uint64_t *dropped = nullptr) {
  std::vector<json> lines;
  auto add = [](void *context, const char *line) {
    static_cast<std::vector<json> *>(context)->push_back(json::parse(line));
  };
  REQUIRE(bitpact_records_drain(add, &lines, dropped) == BITPACT_OK);
  return lines;
}

namespace {
struct Records {
  Records() {
    rowSumPackage().write(scratch / "pkg");
    package = open(scratch / "pkg");
    cpu = device("cpu");
    kernel = test::kernel(package, cpu, "rollout");
    drain();
  }
  Scratch scratch;
  OpenPackage package;
  OpenDevice cpu;
  OpenKernel kernel;
  float x[64] = {}, y[8];
};
} // namespace

TEST_CASE_METHOD(Records, "a record says what ran") {
  Tensor tx(x, {3, 8}), ty(y, {3});
  Launch launch(tx, ty);
  launch.args.site = 42;
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  Tensor none(x, {0, 8}), ny(y, {0}), bad(x, {3, 7});
  REQUIRE(Launch(none, ny).run(kernel) == BITPACT_OK);
  REQUIRE(Launch(bad, ty).run(kernel) != BITPACT_OK);
  std::vector<json> lines = drain();
  REQUIRE(lines.size() == 1); // not for zero rows, not for a refusal
  const json &line = lines[0];
  CHECK(line["bitpact_record"] == 1);
  CHECK(line["contract"] == rowSumContract().digest);
  CHECK(line["name"] == "test/row_sum");
  CHECK(line["op"] == "row_sum@1");
  CHECK(line["variant"] == "only");
  CHECK(line["code"] == package::sha256Hex(kernelBytes()));
  CHECK(line["target"] == "cpu:" + baseLevel);
  CHECK(line["device"] == "cpu");
  CHECK(line["role"] == "rollout");
  CHECK(line["dims"] == json({{"tokens", 3}, {"hidden", 8}}));
  CHECK(line["route"] == "eager");
  CHECK(line["site"] == 42);
}

TEST_CASE_METHOD(Records, "a full ring drops the newest and counts them") {
  const uint64_t capacity = 16384;
  Tensor tx(x, {3, 8}), ty(y, {3});
  Launch launch(tx, ty);
  for (uint64_t i = 0; i < capacity + 5; ++i) {
    launch.args.site = i;
    REQUIRE(launch.run(kernel) == BITPACT_OK);
  }
  uint64_t dropped = 0;
  std::vector<json> lines = drain(&dropped);
  CHECK(dropped == 5);
  REQUIRE(lines.size() == capacity);
  CHECK(lines.front()["site"] == 0);
  CHECK(lines.back()["site"] == capacity - 1);
  // The next record tells of the loss, and its number of the gap.
  REQUIRE(launch.run(kernel) == BITPACT_OK);
  std::vector<json> next = drain(&dropped);
  REQUIRE(next.size() == 1);
  CHECK(dropped == 0);
  CHECK(next[0]["dropped"].get<uint64_t>() ==
        lines.back()["dropped"].get<uint64_t>() + 5);
  CHECK(next[0]["sequence"].get<uint64_t>() ==
        lines.back()["sequence"].get<uint64_t>() + 6);
}

TEST_CASE_METHOD(Records, "records of many threads, drained meanwhile") {
  std::atomic<bool> done{false};
  std::vector<json> lines;
  const int threads = 4, launches = 2000;
  std::vector<std::thread> callers;
  std::atomic<int> failures{0};
  for (int t = 0; t < threads; ++t)
    callers.emplace_back([&, t] {
      float mine[8];
      Tensor tx(x, {3, 8}), ty(mine, {3});
      Launch launch(tx, ty);
      for (int i = 0; i < launches; ++i) {
        launch.args.site = uint64_t(t * launches + i);
        failures += launch.run(kernel) != BITPACT_OK;
      }
    });
  std::thread closer([&] {
    for (std::thread &caller : callers)
      caller.join();
    done = true;
  });
  while (!done)
    for (json &line : drain())
      lines.push_back(std::move(line));
  closer.join();
  for (json &line : drain())
    lines.push_back(std::move(line));
  CHECK(failures == 0);
  std::set<uint64_t> sites, numbers;
  for (const json &line : lines) {
    sites.insert(line["site"].get<uint64_t>());
    numbers.insert(line["sequence"].get<uint64_t>());
  }
  CHECK(lines.size() == threads * launches);
  CHECK(sites.size() == threads * launches);
  CHECK(numbers.size() == threads * launches);
}

TEST_CASE_METHOD(Records, "the capacity cannot change under running launches") {
  CHECK(bitpact_records_configure(64) == BITPACT_BAD_STATE);
  CHECK(bitpact_records_drain(nullptr, nullptr, nullptr) ==
        BITPACT_INVALID_ARGUMENT);
}
