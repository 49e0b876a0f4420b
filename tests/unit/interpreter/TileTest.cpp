// TileTest.cpp - tile kernels: the oracle's bytes, the declared trees
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contracts/reference/Arithmetic.h"
#include "contracts/reference/DotAtom.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;

TEST_CASE("tile kernels give the oracle's bytes") {
  std::mt19937 random(1);
  const int runs = int(allTiles().size()) * 12;
  CHECK(agree(openMatmul(), random) == runs);
  Case half = readText(matmulContract("f16", "dot.nv(16,25).f16", "step:* k:16",
                                      R"m("k fused(dot.nv(16,25))",
                                         "step chain")m",
                                      "f32"));
  CHECK(agree(half, random) == runs);
  CHECK(agree(openCdna3(), random) == runs);
  for (const char *element : {"f32", "bf16"})
    CHECK(agree(openFma(element), random) == runs);
}

// Sums that are -0 when the elements end: a zero step of dot.cdna3 makes them
// +0, an fma with +0 * +0 does.
TEST_CASE("what is beyond the depth does not change the sign of a sum") {
  using algebra::Format;
  auto negative = [](const Case &of, Format element, double a, double b) {
    reference::Tensor x{element, {1, 1}, {}}, weight = x;
    for (auto [tensor, value] : {std::pair(&x, a), {&weight, b}}) {
      uint64_t bits = reference::encode(element, value);
      for (int byte = 0; byte < algebra::bytes(element); ++byte)
        tensor->bytes.push_back(uint8_t(bits >> 8 * byte));
    }
    interpreter::Tensors given = {{"x", x}, {"weight", weight}};
    std::vector<uint8_t> wanted =
        reference::Evaluator(of.read.canonical).run(given, 1).at("y").bytes;
    CHECK(wanted.back() == 0x80); // -0
    for (tile::ScheduleAttr schedule : allTiles()) {
      INFO(schedule.text());
      TileKernel kernel = lower(of, schedule);
      interpreter::Tensors all = given;
      all["y"] = {element, {1, 1}, {}};
      auto got = interpreter::interpretNumbers(kernel.func, all,
                                               productDims(1, 1, 1), 1);
      REQUIRE(succeeded(got));
      CHECK(got->at("y").bytes == wanted);
    }
  };
  negative(openCdna3(), Format::BF16, -0x1p-80, 0x1p-76);
  negative(openFma(), Format::F32, -0x1p-80, 0x1p-80);
}

TEST_CASE("tile kernels have the declared trees") {
  for (const char *partition : {"step:* k:16", "part:* step:8 k:16"}) {
    std::string merges = R"m("k fused(dot.nv(16,25))", "step chain")m";
    if (partition[0] == 'p')
      merges += R"(, "part chain")";
    Case each =
        readText(matmulContract("bf16", "dot.nv(16,25)", partition, merges));
    for (tile::ScheduleAttr schedule : allTiles()) {
      INFO(partition << " " << schedule.text());
      TileKernel kernel = lower(each, schedule);
      Said said;
      auto proved =
          interpreter::proveSchedule(each.contract(), each.op(), kernel.func);
      INFO(said.text);
      REQUIRE(succeeded(proved));
    }
  }
  auto prove = [](const Case &each) {
    for (tile::ScheduleAttr schedule : allTiles()) {
      INFO(schedule.text());
      TileKernel kernel = lower(each, schedule);
      Said said;
      auto proved =
          interpreter::proveSchedule(each.contract(), each.op(), kernel.func);
      INFO(said.text);
      REQUIRE(succeeded(proved));
    }
  };
  prove(openCdna3());
  prove(openFma());
  prove(openFma("bf16"));
}

TEST_CASE("absent columns are left out, or their products are -0") {
  auto change = [](const Case &each) {
    TileKernel kernel = lower(each, tiles(8, 4, 16, 2, 1, 1, "async"));
    kernel.func.walk([](mlir::Operation *op) {
      if (auto fetch = mlir::dyn_cast<tile::FetchOp>(op))
        fetch.setNegative(false);
      if (auto dot = mlir::dyn_cast<tile::DotOp>(op))
        dot.getCountMutable().clear();
    });
    Said said;
    CHECK(failed(
        interpreter::proveSchedule(each.contract(), each.op(), kernel.func)));
    CHECK_THAT(said.text, Catch::Contains("the kernel's tree is not the "
                                          "contract's"));
  };
  change(openCdna3());
  change(openFma());
}

TEST_CASE("the tree of a tile kernel is read, not assumed") {
  Case each = openMatmul();
  TileKernel kernel = lower(each, tiles(8, 4, 16, 2, 1, 1));
  auto report = interpreter::interpretTrees(
      each.contract(), each.op(), kernel.func, productDims(9, 5, 19), 2);
  REQUIRE(succeeded(report));
  REQUIRE(report->equal());
  REQUIRE(report->trees.size() == 1);
  const interpreter::NodeTree &tree = report->trees[0];
  REQUIRE(tree.computed);
  CHECK(*tree.computed == tree.declared);
  CHECK(tree.store->expression(*tree.computed) ==
        "fused(id; x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15; x16 "
        "x17 x18)");
}

TEST_CASE("another cut of the dot is another tree") {
  // Steps of eight are not what a kernel for steps of sixteen does.
  Case eight = readText(matmulContract("bf16", "dot.nv(8,25)", "step:* k:8",
                                       R"m("k fused(dot.nv(8,25))",
                                          "step chain")m"));
  TileKernel kernel = lower(openMatmul(), tiles(8, 4, 16, 2, 1, 1));
  Said said;
  CHECK(failed(
      interpreter::proveSchedule(eight.contract(), eight.op(), kernel.func)));
  CHECK_THAT(said.text, Catch::Contains("does not keep its contract: node "
                                        "'dot', element [0, 0] of 'y'"));
}

TEST_CASE("zeros beyond an extent are as if they were not there") {
  std::mt19937 random(1);
  using algebra::Format;
  for (const char *text :
       {"dot.nv(16,25)", "dot.nv(8,25)", "dot.nv(8,24)", "dot.cdna3"}) {
    algebra::Atom atom = algebra::Atom::parse(text);
    bool isNv = atom.family == "dot.nv";
    int least = 0;
    for (int trial = 0; trial < 200000; ++trial) {
      Format element = trial % 2 ? Format::BF16 : Format::F16;
      // Beside others; for dot.nv also alone.
      int terms = int(random() % uint32_t(atom.terms + 1));
      if (!isNv)
        terms = std::max(terms, 1);
      double a[16] = {}, b[16] = {};
      for (int i = 0; i < terms; ++i) {
        a[i] = reference::decode(element, random() & 0xffff);
        b[i] = reference::decode(element, random() & 0xffff);
      }
      double sum = reference::decode(Format::F32, random() & 0xffffffff);
      if (trial % 4 == 0) // subnormal
        sum = reference::decode(Format::F32, random() & 0x807fffff);
      least += sum != 0 && std::fabs(sum) < 0x1p-126;
      if (sum == 0 && isNv)
        sum = 0; // sums from +0 are never -0
      double with =
                 reference::dotStep(atom, element, a, b, int(atom.terms), sum),
             without = terms
                           ? reference::dotStep(atom, element, a, b, terms, sum)
                           : sum;
      REQUIRE(reference::encode(Format::F32, with) ==
              reference::encode(Format::F32, without));
    }
    CHECK(least > 40000);
    // What this would look like if it did not hold.
    double zero[16] = {};
    CHECK(!std::signbit(reference::dotStep(atom, Format::BF16, zero, zero,
                                           int(atom.terms), -0.0)));
  }
}
