// TileFixture.cpp - products, tile schedules by hand, kernels and inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/interpreter/TileFixture.h"

#include "codegen/Lowering/TileLowering.h"
#include "contracts/reference/Arithmetic.h"
#include "contracts/reference/Evaluator.h"
#include "dialects/Pact/Rules.h"
#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <cmath>

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

Case tests::openCdna3() {
  return readText(matmulContract("bf16", "dot.cdna3", "step:* k:8",
                                 R"m("k fused(dot.cdna3)", "step chain")m"));
}

Case tests::openFma(const std::string &element) {
  return readText(
      matmulContract(element, "dot.fma.f32", "k:*", R"("k chain")", "f32"));
}

tile::ScheduleAttr tests::tiles(int64_t m, int64_t n, int64_t k, int64_t stages,
                                int64_t consumers, int64_t group,
                                llvm::StringRef copy) {
  return tile::ScheduleAttr::get(&context(), m, n, k, stages, consumers, group,
                                 copy, 0, 0, /*cluster=*/1);
}

std::vector<tile::ScheduleAttr> tests::allTiles() {
  return {tiles(128, 256, 64, 4, 2, 8),
          tiles(16, 48, 128, 14, 1, 8),
          tiles(64, 192, 64, 6, 1, 8),
          tiles(8, 4, 16, 2, 1, 1),
          tiles(12, 8, 32, 3, 3, 2),
          tiles(4, 16, 48, 5, 2, 3),
          tiles(128, 256, 64, 3, 2, 8, "async"),
          tiles(128, 128, 32, 2, 2, 8, "registers"),
          tiles(8, 4, 16, 4, 2, 1, "async"),
          tiles(4, 12, 48, 3, 1, 2, "registers")};
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

interpreter::Tensors tests::tensorsOf(const Case &of,
                                      const interpreter::Dims &dims,
                                      std::mt19937 &random, bool plain) {
  interpreter::Tensors tensors;
  auto shaped = [&](llvm::StringRef name,
                    mlir::Value f) -> reference::Tensor & {
    auto type = mlir::cast<mlir::TypeAttr>(of.contract().getTypes().get(name));
    reference::Tensor &tensor = tensors[name.str()];
    tensor.format =
        *algebra::parseFormat(pact::formatName(type.getValue()).str());
    for (mlir::StringAttr dim :
         mlir::cast<pact::RealType>(f.getType()).getDims())
      tensor.shape.push_back(dims.at(dim.str()));
    return tensor;
  };
  std::normal_distribution<double> normal;
  for (pact::InputOp input : of.op().getOps<pact::InputOp>()) {
    reference::Tensor &tensor = shaped(input.getTensor(), input.getResult());
    int64_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= extent;
    bool special = !plain && random() % 3 == 0;
    for (int64_t i = 0; i < count; ++i) {
      double value = normal(random);
      if (!plain)
        value *= std::exp2(int(random() % 24) - 12);
      if (!plain && random() % 16 == 0)
        value = random() % 2 ? -0.0 : 0.0;
      if (special && random() % 512 == 0)
        value = random() % 2 ? HUGE_VAL : NAN;
      uint64_t bits = reference::encode(tensor.format, value);
      for (int byte = 0; byte < algebra::bytes(tensor.format); ++byte)
        tensor.bytes.push_back(uint8_t(bits >> 8 * byte));
    }
  }
  for (pact::OutputOp output : of.op().getOps<pact::OutputOp>())
    shaped(output.getTensor(), output.getValue());
  return tensors;
}

int tests::agree(const Case &of, std::mt19937 &random) {
  reference::Evaluator oracle(of.read.canonical);
  std::string output =
      (*of.op().getOps<pact::OutputOp>().begin()).getTensor().str();
  int runs = 0;
  for (tile::ScheduleAttr schedule : allTiles()) {
    TileKernel kernel = lower(of, schedule);
    for (auto [tokens, out, in] :
         {std::tuple(1, 1, 1), {5, 9, 200}, {131, 37, 97}, {17, 139, 330}})
      for (int64_t programs : {1, 3, 200}) {
        INFO(schedule.text() << ": " << tokens << " x " << out << " x " << in
                             << ", programs " << programs);
        interpreter::Dims dims = productDims(tokens, out, in);
        interpreter::Tensors all = tensorsOf(of, dims, random), given = all;
        given.erase(output);
        Said said;
        auto got =
            interpreter::interpretNumbers(kernel.func, all, dims, programs);
        INFO(said.text);
        REQUIRE(succeeded(got));
        REQUIRE(oracle.run(given, 1).at(output).bytes == got->at(output).bytes);
        ++runs;
      }
  }
  return runs;
}

std::string tests::saidOf(const Case &of,
                          llvm::function_ref<void(tile::FuncOp)> plant) {
  TileKernel kernel = lower(of, tiles(8, 4, 32, 3, 2, 2));
  {
    Said said;
    auto proved =
        interpreter::proveSchedule(of.contract(), of.op(), kernel.func);
    INFO(said.text);
    REQUIRE(succeeded(proved));
  }
  plant(kernel.func);
  Said said;
  REQUIRE(
      failed(interpreter::proveSchedule(of.contract(), of.op(), kernel.func)));
  return said.text;
}

uint16_t tests::bitsAt(const reference::Tensor &tensor, int64_t i) {
  return uint16_t(tensor.bytes[2 * i] | tensor.bytes[2 * i + 1] << 8);
}

reference::Tensor tests::bf16s(std::vector<int64_t> shape,
                               const std::vector<uint16_t> &bits) {
  reference::Tensor tensor{algebra::Format::BF16, std::move(shape), {}};
  for (uint16_t each : bits)
    tensor.bytes.insert(tensor.bytes.end(),
                        {uint8_t(each), uint8_t(each >> 8)});
  return tensor;
}
