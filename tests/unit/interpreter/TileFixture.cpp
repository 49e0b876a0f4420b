// TileFixture.cpp - products, tile schedules by hand, kernels and inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/TileFixture.h"

#include "codegen/Lowering/TileLowering.h"
#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;

std::string
tests::matmulContract(const std::string &element, const std::string &atom,
                      const std::string &partition, const std::string &merges,
                      const std::string &output, const std::string &in) {
  return R"({"bitpact": 1, "name": "test/matmul", "op": "matmul@1",
  "dims": {"tokens": "*", "out": "*", "in": )" +
         in + R"(}, "types": {"x": ")" + element + R"(", "weight": ")" +
         element + R"(", "y": ")" + output + R"("},
  "nodes": {"dot": {"domain": "in", "partition": ")" +
         partition + R"(", "merge": [)" + merges +
         R"(], "start": "identity",
    "precision": {"product": "exact", "accumulator": "f32"}}},
  "rounding": {"y": ")" +
         output + R"( rne"}, "primitives": {"dot.step": ")" + atom + R"("}})";
}

Case tests::openMatmul() {
  return readText(
      matmulContract("bf16", "dot.nv(16,25)", "step:* k:16",
                     R"m("k fused(dot.nv(16,25))", "step chain")m"));
}

tile::ScheduleAttr tests::tiles(int64_t m, int64_t n, int64_t k, int64_t stages,
                                int64_t consumers, int64_t group) {
  return tile::ScheduleAttr::get(&context(), m, n, k, stages, consumers, group,
                                 "bulk", 0, 0);
}

std::vector<tile::ScheduleAttr> tests::allTiles() {
  return {tiles(128, 256, 64, 4, 2, 8), tiles(8, 4, 16, 2, 1, 1),
          tiles(12, 8, 32, 3, 3, 2), tiles(4, 16, 48, 5, 2, 3)};
}

TileKernel tests::lower(const Case &of, tile::ScheduleAttr schedule) {
  auto why = lowering::whyNot(of.contract(), of.op(), schedule);
  INFO(why.value_or(""));
  REQUIRE(!why);
  TileKernel kernel;
  kernel.module = mlir::ModuleOp::create(of.contract().getLoc());
  kernel.func = lowering::lowerTiles(of.contract(), of.op(), schedule, "f",
                                     *kernel.module);
  REQUIRE(succeeded(mlir::verify(*kernel.module)));
  return kernel;
}

interpreter::Dims tests::productDims(int64_t tokens, int64_t out, int64_t in) {
  return {{"tokens", tokens}, {"out", out}, {"in", in}};
}
