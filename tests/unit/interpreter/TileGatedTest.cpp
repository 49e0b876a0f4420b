// TileGatedTest.cpp - tile kernels of several products of one tensor
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// `swiglu@1` with every extent open; the sites of gate, up and the
/// activation are rounded to `between`.
Case gated(const std::string &between, const std::string &element = "bf16",
           const std::string &upStep = "", const std::string &weight = "") {
  std::string step = element == "f16" ? "dot.nv(16,25).f16" : "dot.nv(16,25)";
  bool narrow = upStep == "dot.nv(8,25)";
  auto node = [](const std::string &terms) {
    return R"j({"domain": "in", "partition": "step:* k:)j" + terms +
           R"j(", "merge": ["k fused(dot.nv()j" + terms +
           R"j(,25))", "step chain"], "start": "identity",
    "precision": {"product": "exact", "accumulator": "f32"}})j";
  };
  return readText(
      R"j({"bitpact": 1, "name": "test", "op": "swiglu@1",
  "dims": {"tokens": "*", "out": "*", "in": "*"}, "types": {"x": ")j" +
      element + R"j(", "gate_weight": ")j" + element +
      R"j(", "up_weight": ")j" + (weight.empty() ? element : weight) +
      R"j(", "y": ")j" + element + R"j("},
  "nodes": {"gate": )j" +
      node("16") + R"j(, "up": )j" + node(narrow ? "8" : "16") +
      R"j(}, "rounding": {"gate_product": ")j" + between +
      R"j(", "up_product": ")j" + between +
      R"j(", "activation": ")j" + between + R"j(", "y": ")j" + element +
      R"j( rne"}, "primitives": {"gate.step": ")j" + step +
      R"j(", "up.step": ")j" + (upStep.empty() ? step : upStep) +
      R"j(", "silu": "silu.f32"}})j");
}

template <typename OpType> SmallVector<OpType> all(tile::FuncOp func) {
  SmallVector<OpType> found;
  func.walk([&](OpType op) { found.push_back(op); });
  return found;
}

} // namespace

TEST_CASE("two products of one tensor give the oracle's bytes") {
  std::mt19937 random(1);
  for (const char *between : {"f32 rne", "bf16 rne"}) {
    INFO(between);
    CHECK(agree(gated(between), random) == int(allTiles().size()) * 12);
  }
  CHECK(agree(gated("f16 rne", "f16"), random) == int(allTiles().size()) * 12);
}

TEST_CASE("kernels of two products are proved") {
  Case of = gated("bf16 rne");
  for (tile::ScheduleAttr schedule : allTiles()) {
    TileKernel kernel = lower(of, schedule);
    Said said;
    auto proved =
        interpreter::proveSchedule(of.contract(), of.op(), kernel.func);
    INFO(schedule.text() << said.text);
    REQUIRE(succeeded(proved));
  }
}

TEST_CASE("a product of the other's weight") {
  std::string said = saidOf(gated("f32 rne"), [](tile::FuncOp func) {
    // In each stage gate comes before up.
    SmallVector<tile::DotOp> dots = all<tile::DotOp>(func);
    for (size_t i = 1; i < dots.size(); i += 2)
      dots[i].getBMutable().set(dots[i - 1].getB());
  });
  CHECK_THAT(said, Contains("element [0, 0] of 'y': the contract has "));
}

TEST_CASE("products that changed places") {
  std::string said = saidOf(gated("f32 rne"), [](tile::FuncOp func) {
    auto map = all<tile::MapOp>(func).front();
    Value gate = map.getOperand(0), up = map.getOperand(1);
    map->setOperand(0, up);
    map->setOperand(1, gate);
  });
  CHECK_THAT(said, Contains("element [0, 0] of 'y': the contract has "));
}

TEST_CASE("a stage of one product is of the other's weight") {
  std::string said = saidOf(gated("f32 rne"), [](tile::FuncOp func) {
    SmallVector<tile::DotOp> dots = all<tile::DotOp>(func);
    dots[3].getBMutable().set(dots[2].getB());
  });
  CHECK_THAT(said, Contains("the kernel's tree is not the contract's"));
}

TEST_CASE("a stage is given back while the second product reads it") {
  std::string said = saidOf(gated("f32 rne"), [](tile::FuncOp func) {
    for (tile::SettleOp settle : all<tile::SettleOp>(func))
      settle.setBehind(3);
  });
  CHECK_THAT(said,
             Contains("gives back a stage that products may still read"));
}

TEST_CASE("products that tiles do not compute together") {
  auto why = [](const Case &of) {
    return lowering::whyNot(of.contract(), of.op(),
                            tiles(128, 128, 64, 4, 2, 8))
        .value_or("");
  };
  CHECK(why(gated("f32 rne")) == "");
  CHECK(why(gated("f32 rne", "bf16", "dot.nv(8,25)")) ==
        "node up: primitives: the step is dot.nv(8,25), with sums in f32, "
        "and that of node gate is dot.nv(16,25), with sums in f32; products "
        "of one tensor are of one step");
}
