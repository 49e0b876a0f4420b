// TileAloneTest.cpp - tile kernels whose programs pack their own blocks
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/TileFixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;

namespace {

tile::ScheduleAttr own(int64_t m, int64_t n, int64_t k, int64_t group) {
  return tile::ScheduleAttr::get(&context(), m, n, k, 1, 1, group, "own", 0, 0,
                                 /*cluster=*/1, /*held=*/0, 2, 4, 4);
}

std::vector<tile::ScheduleAttr> schedules() {
  return {own(8, 12, 16, 2), own(4, 4, 32, 1)};
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string chained(const std::string &element, const std::string &step,
                    const std::string &output) {
  return matmulContract(element, step, "k:*", R"("k chain")", output);
}

std::vector<std::string> contracts() {
  std::string f64 = replaced(chained("f32", "dot.fma.f64", "f64"),
                             R"("accumulator": "f32")",
                             R"("accumulator": "f64")");
  return {
      chained("f32", "dot.fma.f32", "f32"),
      chained("bf16", "dot.fma.f32", "bf16"),
      replaced(chained("f16", "dot.fma.f32", "f32"), "identity", "first"),
      matmulContract("f32", "dot.fma.f32", "step:* k:16",
                     R"("k chain", "step chain")", "f32"),
      replaced(chained("f32", "dot.mul_add.f32", "f32"), "exact", "f32"),
      f64,
      matmulContract("bf16", "dot.nv(16,25)", "step:* k:16",
                     R"m("k fused(dot.nv(16,25))", "step chain")m"),
      matmulContract("f16", "dot.cdna3.f16", "step:* k:8",
                     R"m("k fused(dot.cdna3)", "step chain")m"),
  };
}

int64_t blocksOf(const tile::ScheduleAttr &schedule, int64_t tokens,
                 int64_t out) {
  return ((tokens - 1) / schedule.getM() + 1) *
         ((out - 1) / schedule.getN() + 1);
}

std::string provedText(const Case &of, tile::FuncOp func) {
  Said said;
  bool holds =
      succeeded(interpreter::proveSchedule(of.contract(), of.op(), func));
  return holds ? "holds" : said.text;
}

} // namespace

TEST_CASE("programs that pack their own blocks give the oracle's bytes") {
  std::mt19937 random(1);
  for (const std::string &text : contracts()) {
    Case of = readText(text);
    reference::Evaluator oracle(of.read.canonical);
    for (tile::ScheduleAttr schedule : schedules()) {
      TileKernel kernel = lower(of, schedule);
      for (auto [tokens, out, in] :
           {std::tuple(1, 1, 1), {9, 25, 33}, {5, 4, 70}}) {
        INFO(text << schedule.text() << ": " << tokens << " x " << out << " x "
                  << in);
        interpreter::Dims dims = productDims(tokens, out, in);
        interpreter::Tensors all = tensorsOf(of, dims, random), given = all;
        given.erase("y");
        Said said;
        auto got = interpreter::interpretNumbers(
            kernel.func, all, dims, blocksOf(schedule, tokens, out));
        INFO(said.text);
        REQUIRE(succeeded(got));
        CHECK(oracle.run(given, 1).at("y").bytes == got->at("y").bytes);
      }
    }
  }
}

TEST_CASE("programs that pack their own blocks have the declared trees") {
  for (const std::string &text : contracts()) {
    Case of = readText(text);
    for (tile::ScheduleAttr schedule : schedules()) {
      INFO(text << schedule.text());
      CHECK(provedText(of, lower(of, schedule).func) == "holds");
    }
  }
}

TEST_CASE("a chain that takes nothing beyond the extent is a chain") {
  Case of = readText(chained("f32", "dot.fma.f32", "f32"));
  TileKernel kernel = lower(of, own(4, 4, 16, 1));
  auto report = interpreter::interpretTrees(of.contract(), of.op(), kernel.func,
                                            productDims(3, 2, 5), 1);
  REQUIRE(succeeded(report));
  const interpreter::NodeTree &tree = report->trees.at(0);
  REQUIRE(tree.computed);
  CHECK(tree.store->expression(*tree.computed) ==
        "chain(id, x0, x1, x2, x3, x4)");
}

TEST_CASE("another step, start or order of a chain is found") {
  Case of = readText(chained("f32", "dot.fma.f32", "f32"));
  auto planted = [&](llvm::function_ref<void(tile::FuncOp)> plant) {
    TileKernel kernel = lower(of, own(4, 4, 16, 1));
    REQUIRE(provedText(of, kernel.func) == "holds");
    plant(kernel.func);
    return provedText(of, kernel.func);
  };
  // The sum and the first element change places in the step.
  CHECK_THAT(planted([](tile::FuncOp func) {
               func.walk([](kernel::FmaOp fma) {
                 mlir::Value a = fma.getA();
                 fma->setOperand(0, fma.getC());
                 fma->setOperand(2, a);
               });
             }),
             Catch::Contains("does not keep its contract"));
  CHECK_THAT(planted([](tile::FuncOp func) {
               func.walk([](tile::BeginOp op) { op.setStart("first"); });
             }),
             Catch::Contains("does not keep its contract"));
  CHECK_THAT(planted([](tile::FuncOp func) {
               func.walk([](tile::ChainOp op) {
                 op->setOperand(0, op.getB());
               });
             }),
             Catch::Contains("does not keep its contract"));
}

TEST_CASE("what programs with chains do not keep names the field") {
  auto why = [](const std::string &partition, const std::string &merges) {
    Case of = readText(
        matmulContract("f32", "dot.fma.f32", partition, merges, "f32"));
    return lowering::whyNot(of.contract(), of.op(), own(4, 4, 16, 1))
        .value_or("");
  };
  CHECK(why("k:*", R"("k chain")") == "");
  CHECK_THAT(why("part:* k:16", R"("k chain", "part pairwise")"),
             Catch::Contains("merge: 'part pairwise'"));
  CHECK_THAT(why("sweep:* lane:8", R"("sweep chain", "lane chain")"),
             Catch::Contains("is not merged in the order of the partition"));
}
