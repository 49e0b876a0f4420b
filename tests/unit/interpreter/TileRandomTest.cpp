// TileRandomTest.cpp - products in forms, and tiles, that nobody chose
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

tile::ScheduleAttr randomTiles(std::mt19937 &random) {
  auto pick = [&](int64_t from, int64_t to) {
    return from + int64_t(random() % uint64_t(to - from + 1));
  };
  int64_t consumers = pick(1, 3);
  return tiles(consumers * pick(1, 9), pick(1, 20), 16 * pick(1, 4), pick(2, 5),
               consumers, pick(1, 5));
}

/// The contract's extents, and random ones that are open.
interpreter::Dims extentsOf(const Case &of, std::mt19937 &random) {
  constexpr int64_t open[] = {1, 2, 3, 5, 8, 13, 16, 17, 29, 37};
  interpreter::Dims dims;
  for (mlir::NamedAttribute each : of.contract().getDims()) {
    int64_t extent = mlir::cast<mlir::IntegerAttr>(each.getValue()).getInt();
    dims[each.getName().str()] = mlir::ShapedType::isDynamic(extent)
                                     ? open[random() % std::size(open)]
                                     : extent;
  }
  return dims;
}

} // namespace

TEST_CASE("random products in random tiles are proved, and give the oracle's "
          "bytes") {
  std::vector<std::string> files;
  for (const auto &entry :
       std::filesystem::directory_iterator(BITPACT_PRODUCTS))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() == 96);
  std::mt19937 random(1);
  for (const std::string &file : files) {
    Case each = readFile(file);
    tile::ScheduleAttr schedule = randomTiles(random);
    INFO(file << ": " << schedule.text());
    TileKernel kernel = lower(each, schedule);
    interpreter::Dims dims = extentsOf(each, random);
    int64_t programs = 1 + int64_t(random() % 4);
    Said said;
    auto report = interpreter::interpretTrees(each.contract(), each.op(),
                                              kernel.func, dims, programs);
    INFO(said.text);
    REQUIRE(succeeded(report));
    INFO((report->equal() ? "" : report->differences[0]));
    REQUIRE(report->equal());
    interpreter::Tensors all = tensorsOf(each, dims, random), given = all;
    given.erase("y");
    auto got = interpreter::interpretNumbers(kernel.func, all, dims, programs);
    REQUIRE(succeeded(got));
    REQUIRE(
        reference::Evaluator(each.read.canonical).run(given, 1).at("y").bytes ==
        got->at("y").bytes);
  }
}
