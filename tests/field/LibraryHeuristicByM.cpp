// LibraryHeuristicByM.cpp - a row of a product depends on that row alone
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seen elsewhere: a library cuts K in parts where there are few rows, and which
// cut it takes depends on M: five of seven values of M differ.
#include "codegen/Lowering/TileLowering.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <iostream>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

constexpr int64_t kRows = 33, kOut = 37, kIn = 510;

Case contractOf(const std::string &name) {
  return readFile(BITPACT_FIELD_CONTRACTS "/" + name + ".json");
}

/// Normal values in every tensor, and what the oracle makes of them.
struct Launch {
  explicit Launch(const Case &of) {
    std::mt19937 random(1);
    interpreter::Dims dims = productDims(kRows, kOut, kIn);
    inputs = tensorsOf(of, dims, random, /*plain=*/true);
    inputs.erase("y");
    want = reference::Evaluator(of.read.canonical).run(inputs, 1).at("y");
  }
  interpreter::Tensors inputs;
  reference::Tensor want;
};

/// Rows [first, first + count) of a tensor.
reference::Tensor rowsOf(const reference::Tensor &tensor, int64_t first,
                         int64_t count) {
  size_t pitch = tensor.bytes.size() / size_t(tensor.shape[0]);
  reference::Tensor part{tensor.format, tensor.shape, {}};
  part.shape[0] = count;
  part.bytes.assign(tensor.bytes.begin() + int64_t(pitch) * first,
                    tensor.bytes.begin() + int64_t(pitch) * (first + count));
  return part;
}

} // namespace

/// The first rows of a batch of every size, the last, and each row alone.
static void expectEveryM(const Case &of, const Launch &launch,
                         tile::ScheduleAttr schedule) {
  TileKernel kernel = lower(of, schedule);
  for (int64_t count = 1; count <= kRows; ++count)
    for (int64_t first : {int64_t(0), kRows - count, count - 1}) {
      int64_t rows = first == count - 1 ? 1 : count;
      INFO(schedule.text() << ": rows " << first << " to " << first + rows - 1);
      interpreter::Tensors all = {
          {"x", rowsOf(launch.inputs.at("x"), first, rows)},
          {"weight", launch.inputs.at("weight")},
          {"y", {launch.want.format, {rows, kOut}, {}}}};
      Said said;
      auto got = interpreter::interpretNumbers(kernel.func, all,
                                               productDims(rows, kOut, kIn), 2);
      INFO(said.text);
      REQUIRE(succeeded(got));
      REQUIRE(got->at("y").bytes == rowsOf(launch.want, first, rows).bytes);
    }
}

TEST_CASE("same bits for every M, in every tile") {
  Case of = contractOf("product");
  Launch launch(of);
  for (tile::ScheduleAttr schedule : allTiles())
    expectEveryM(of, launch, schedule);
}

TEST_CASE("same bits for every M, whether units share a block or not") {
  // Where a library cuts K, here it is the contract that does, at every M.
  Case of = contractOf("product_halves");
  Launch launch(of);
  auto split = [](int64_t m, int64_t n, int64_t consumers, int64_t units) {
    return tile::ScheduleAttr::get(&context(), m, n, 64, 3, consumers, 2,
                                   "bulk", 0, 0, /*cluster=*/1, /*held=*/0,
                                   units);
  };
  for (tile::ScheduleAttr schedule :
       {split(8, 16, 1, 2), split(16, 8, 2, 2), split(16, 16, 1, 1)})
    expectEveryM(of, launch, schedule);
  // Of the undivided contract no unit has a part of its own.
  Case whole = contractOf("product");
  CHECK_THAT(lowering::whyNot(whole.contract(), whole.op(), split(8, 16, 1, 2))
                 .value_or(""),
             Catch::Contains("split is 2"));
}

TEST_CASE(
    "K in two parts is another contract, and a kernel of one is none of the "
    "other") {
  Case whole = contractOf("product"), halves = contractOf("product_halves");
  CHECK(whole.read.digest != halves.read.digest);
  for (auto [made, other] :
       {std::pair(&whole, &halves), std::pair(&halves, &whole)}) {
    TileKernel kernel = lower(*made, tiles(128, 128, 64, 4, 2, 8));
    Said said;
    auto own =
        interpreter::proveSchedule(made->contract(), made->op(), kernel.func);
    INFO(said.text);
    CHECK(succeeded(own));
    // At the depth that both have.
    auto report =
        interpreter::interpretTrees(other->contract(), other->op(), kernel.func,
                                    productDims(kRows, kOut, kIn), 2);
    INFO(said.text);
    REQUIRE(succeeded(report));
    REQUIRE(!report->equal());
    CHECK_THAT(
        report->differences.front(),
        Catch::Contains("node 'dot', element [0, 0] of 'y', extent 510"));
  }
  Launch one(whole), two(halves);
  int64_t differ = 0;
  for (size_t i = 0; i < one.want.bytes.size(); i += 4)
    differ += std::memcmp(&one.want.bytes[i], &two.want.bytes[i], 4) != 0;
  std::cout << "K in two parts: " << differ << " of " << kRows * kOut
            << " elements differ\n";
  CHECK(differ > kRows * kOut / 2);
}
