// TileEpilogueTest.cpp - operations on the sums of tile kernels
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"
#include "compiler/Reader/Canonical.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// `matmul_bias@1` or `matmul_residual@1`, every extent open.
Case epilogue(const std::string &other, const std::string &product,
              const std::string &element = "bf16",
              const std::string &otherType = "bf16",
              const std::string &output = "bf16") {
  auto quoted = [](const std::string &text) { return "\"" + text + "\""; };
  std::string atom = element == "f16" ? "dot.nv(16,25).f16" : "dot.nv(16,25)";
  return readText(R"j({"bitpact": 1, "name": "test", "op": "matmul_)j" + other +
                  R"j(@1", "dims": {"tokens": "*", "out": "*", "in": "*"},
  "types": {"x": )j" +
                  quoted(element) + R"j(, "weight": )j" + quoted(element) +
                  ", " + quoted(other) + ": " + quoted(otherType) +
                  R"j(, "y": )j" + quoted(output) + R"j(},
  "nodes": {"dot": {"domain": "in", "partition": "step:* k:16",
    "merge": ["k fused(dot.nv(16,25))", "step chain"], "start": "identity",
    "precision": {"product": "exact", "accumulator": "f32"}}},
  "rounding": {"product": )j" +
                  quoted(product) + R"j(, "y": )j" + quoted(output + " rne") +
                  R"j(}, "primitives": {"dot.step": )j" + quoted(atom) + "}}");
}

/// An operator with `body` between its product %d, three other tensors and its
/// output %y.
Case inlineOperator(const std::string &body, const std::string &rounding = "",
                    const std::string &rest = "") {
  std::string text = R"m(
!x = !pact.real<["tokens", "in"]>
!w = !pact.real<["out", "in"]>
!y = !pact.real<["tokens", "out"]>
!row = !pact.real<["tokens"]>
!column = !pact.real<["out"]>
!one = !pact.real<[]>
pact.atom @"dot.nv(16,25)" dot product "exact" model "dot.nv" L 16 F 25
  : (bf16, bf16, f32) -> f32
pact.primitive @half function (%x: f32) -> f32 {
  %c = arith.constant 0.5 : f32
  %z = arith.constant 0.0 : f32
  %s = pact.sqrt %c : f32
  %f = pact.fma %x, %c, %s : f32
  %p = arith.cmpf olt, %x, %z : f32
  %r = arith.select %p, %f, %x : f32
  pact.yield %r : f32
}
pact.operator @f version 1 dims ["tokens", "out", "in"] {
  %x = pact.input "x" : !x
  %w = pact.input "w" : !w
  %full = pact.input "full" : !y
  %scale = pact.input "scale" : !row
  %bias = pact.input "bias" : !column
  %d = pact.reduce "dot" dot over "in" (%x, %w) site "product" : (!x, !w) -> !y
)m" + body + R"m(
  pact.output "y" %y : !y
}
pact.contract "c" of @f dims {tokens = ?, out = ?, in = ?}
  types {x = bf16, w = bf16, full = f16, scale = f32, bias = bf16, y = bf16}
  params {)m" + (rest.empty() ? "" : "p = 1.5 : f32") +
                     R"m(} nodes {
    dot = #pact.node<domain "in" partition "step:* k:16"
      merge ["k fused(dot.nv(16,25))", "step chain"] start identity
      product "exact" accumulator f32>}
  rounding {product = #pact.rounding<f32 rne>, )m" +
                     rounding + R"m(y = #pact.rounding<bf16 rne>}
  primitives {dot.step = @"dot.nv(16,25)")m" +
                     rest + "}";
  Said said;
  Case made;
  made.name = "operator";
  made.read.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  INFO(said.text);
  REQUIRE(made.read.module);
  made.read.canonical =
      reader::canonicalContract(made.contract(), *made.read.module);
  return made;
}

/// Every kind of operand and operation: a scale of rows, a bias, a matrix, a
/// param, a constant, a function, an exact product, a rounding in the middle.
Case everything() {
  return inlineOperator(R"m(
  %p = pact.param "p" : !one
  %c = pact.constant "0.1" : !one
  %s = pact.mul %d, %scale site "scaled" : (!y, !row) -> !y
  %b = pact.add %s, %bias : (!y, !column) -> !y
  %g = pact.apply "g" (%b) : (!y) -> !y
  %m = pact.mul %g, %p site "exactly" : (!y, !one) -> !y
  %a = pact.sub %full, %m : (!y, !y) -> !y
  %n = pact.neg %a : (!y) -> !y
  %t = pact.max %n, %c : (!y, !one) -> !y
  %q = pact.div %t, %scale : (!y, !row) -> !y
  %y = pact.abs %q : (!y) -> !y)m",
                        "scaled = #pact.rounding<f16 rne>, "
                        "exactly = #pact.rounding<exact>, ",
                        ", g = @half");
}

template <typename OpType> OpType only(tile::FuncOp func) {
  SmallVector<OpType> found;
  func.walk([&](OpType op) { found.push_back(op); });
  REQUIRE(found.size() == 1);
  return found.front();
}

Value plus(Value value, int64_t more) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  return arith::AddIOp::create(
      builder, value.getLoc(), value,
      arith::ConstantIntOp::create(builder, value.getLoc(), more, 32));
}

} // namespace

TEST_CASE("bias and residual give the oracle's bytes") {
  std::mt19937 random(1);
  for (const char *other : {"bias", "residual"})
    for (const char *product : {"f32 rne", "bf16 rne"}) {
      INFO(other << " " << product);
      CHECK(agree(epilogue(other, product), random) ==
            int(allTiles().size()) * 12);
    }
  CHECK(agree(epilogue("bias", "f32 rne", "f16", "f32", "f32"), random) ==
        int(allTiles().size()) * 12);
  CHECK(agree(epilogue("residual", "f16 rne", "f16", "f16", "f16"), random) ==
        int(allTiles().size()) * 12);
  CHECK(agree(epilogue("residual", "f32 rne", "bf16", "f32", "f16"), random) ==
        int(allTiles().size()) * 12);
}

TEST_CASE("any operations on sums give the oracle's bytes") {
  std::mt19937 random(1);
  CHECK(agree(everything(), random) == int(allTiles().size()) * 12);
}

TEST_CASE("kernels with operations on sums are proved") {
  Case cases[] = {epilogue("bias", "f32 rne"), epilogue("residual", "bf16 rne"),
                  everything()};
  for (const Case &each : cases)
    for (tile::ScheduleAttr schedule : allTiles()) {
      TileKernel kernel = lower(each, schedule);
      Said said;
      auto proved =
          interpreter::proveSchedule(each.contract(), each.op(), kernel.func);
      INFO(schedule.text() << said.text);
      REQUIRE(succeeded(proved));
    }
}

TEST_CASE("a bias of the next column") {
  std::string said = saidOf(epilogue("bias", "f32 rne"), [](tile::FuncOp func) {
    auto load = only<tile::LoadOp>(func);
    load.getColMutable().set(plus(load.getCol(), 1));
  });
  CHECK_THAT(said, Contains("does not keep its contract: element [0, 0] of "
                            "'y': the contract has narrow bf16("));
}

TEST_CASE("a bias along the rows") {
  std::string said = saidOf(epilogue("bias", "f32 rne"), [](tile::FuncOp func) {
    auto view =
        only<tile::LoadOp>(func).getView().getDefiningOp<tile::ViewOp>();
    view.setAlong("rows");
  });
  CHECK_THAT(said, Contains("does not keep its contract: element [0, 2] of "
                            "'y': the contract has narrow bf16("));
}

TEST_CASE("a residual of the rows of another consumer") {
  std::string said =
      saidOf(epilogue("residual", "f32 rne"), [](tile::FuncOp func) {
        auto load = only<tile::LoadOp>(func);
        auto sum = load.getRow().getDefiningOp<arith::AddIOp>();
        load.getRowMutable().set(sum.getLhs());
      });
  CHECK_THAT(said, Contains("does not keep its contract: element [4, 0] of "
                            "'y': the contract has narrow bf16("));
}

TEST_CASE("a residual with the stride of another tensor") {
  std::string said =
      saidOf(epilogue("residual", "f32 rne"), [](tile::FuncOp func) {
        auto view =
            only<tile::LoadOp>(func).getView().getDefiningOp<tile::ViewOp>();
        view.getStrideMutable().assign(func.slot("weight:0"));
      });
  CHECK_THAT(said, Contains("does not keep its contract: element ["));
}

TEST_CASE("a product that is rounded, and one that is not") {
  Case fused = epilogue("residual", "f32 rne"),
       separate = epilogue("residual", "bf16 rne");
  for (auto [made, wanted] :
       {std::pair(&fused, &separate), {&separate, &fused}}) {
    TileKernel kernel = lower(*made, tiles(8, 4, 32, 3, 2, 2));
    Said said;
    REQUIRE(failed(interpreter::proveSchedule(wanted->contract(), wanted->op(),
                                              kernel.func)));
    CHECK_THAT(said.text, Contains("does not keep its contract: element [0, 0] "
                                   "of 'y': the contract has narrow bf16("));
  }
}

TEST_CASE("a wrong sum below an epilogue is named as a tree") {
  std::string said =
      saidOf(epilogue("residual", "f32 rne"), [](tile::FuncOp func) {
        func.walk([&](tile::FetchOp fetch) {
          fetch.getRowMutable().set(plus(fetch.getRow(), 1));
        });
      });
  CHECK_THAT(said, Contains("does not keep its contract: node 'dot', element "
                            "[0, 0] of 'y', extent 1: the kernel's tree is not "
                            "the contract's"));
}

TEST_CASE("what tiles do not do with sums is said") {
  auto why = [](const Case &of) {
    auto said =
        lowering::whyNot(of.contract(), of.op(), tiles(128, 256, 64, 4, 2, 8));
    return said.value_or("");
  };
  const std::string use = R"(
  %b = pact.add %d, %bias : (!y, !column) -> !y
  %s = pact.mul %b, %scale : (!y, !row) -> !y
  %y = pact.add %s, %full : (!y, !y) -> !y)";
  CHECK(why(inlineOperator(use)) == "");
  std::string extent = use;
  extent.replace(extent.find("%y ="), 4, "%z =");
  extent += R"(
  %n = pact.extent "in" : !one
  %y = pact.div %z, %n : (!y, !one) -> !y)";
  CHECK(why(inlineOperator(extent)) ==
        "operator f: has pact.extent; tiles take a product and operations on "
        "its elements");
  CHECK(why(epilogue("bias", "f32 rne", "bf16", "f64")) ==
        "types: 'bias' is f64; beside a product tiles take bf16, f16 and f32");
  CHECK(why(epilogue("bias", "f64 rne")) ==
        "rounding: 'product' is f64; beside a product tiles take bf16, f16 and "
        "f32");
}
