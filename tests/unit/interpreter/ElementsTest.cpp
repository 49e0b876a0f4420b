// ElementsTest.cpp - programs that share rows of which nothing is reduced
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/RowLowering.h"
#include "contracts/reference/Evaluator.h"
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// `out` is "*" or an extent.
Case activation(const std::string &out, const std::string &type) {
  return readText(
      R"({"bitpact": 1, "name": "test/activation", "op": "silu_and_mul@1",
  "dims": {"tokens": "*", "out": )" +
      out + R"(}, "types": {"gate": ")" + type + R"(", "up": ")" + type +
      R"(", "y": "f32"}, "nodes": {},
  "rounding": {"activation": "bf16 rne", "y": "f32 rne"},
  "primitives": {"silu": "silu.f32"}})");
}

kernel::ScheduleAttr stretches(int64_t lanes, int64_t subgroup,
                               int64_t vectorBytes, int64_t split,
                               bool adjacent = false, int64_t rowsPerLane = 1) {
  return kernel::ScheduleAttr::get(
      &context(), rowsPerLane > 1 ? "row_per_lane" : "row_per_group", lanes,
      subgroup, 1, vectorBytes, 16, adjacent, rowsPerLane, split);
}

reference::Tensor patterned(algebra::Format format, int64_t rows, int64_t out,
                            uint64_t seed) {
  reference::Tensor tensor{format, {rows, out}, {}};
  std::mt19937_64 random(seed);
  tensor.bytes.resize(size_t(rows * out * algebra::bytes(format)));
  for (uint8_t &byte : tensor.bytes)
    byte = uint8_t(random());
  return tensor;
}

void agree(const Case &of, const Kernel &kernel, algebra::Format format,
           int64_t rows, int64_t out) {
  interpreter::Tensors given{{"gate", patterned(format, rows, out, 1)},
                             {"up", patterned(format, rows, out, 2)}};
  interpreter::Tensors all = given;
  all["y"] = {algebra::Format::F32, {rows, out}, {}};
  Said said;
  auto got = interpreter::interpretNumbers(kernel.steps, all,
                                           {{"tokens", rows}, {"out", out}});
  INFO(said.text);
  REQUIRE(succeeded(got));
  CHECK(reference::Evaluator(of.read.canonical).run(given, 1)["y"].bytes ==
        got->at("y").bytes);
}

} // namespace

TEST_CASE("stretches of a row are all of it, each element once") {
  const struct {
    kernel::ScheduleAttr schedule;
    int64_t length;
  } kinds[] = {{stretches(32, 32, 16, 256), 256},
               {stretches(32, 32, 0, 32), 32},
               {stretches(64, 64, 16, 2048), 2048}, // several turns of the lanes
               {stretches(64, 64, 0, 256), 256},
               {stretches(128, 32, 16, 1000), 1024}}; // whole turns
  for (auto [type, format] : {std::pair("bf16", algebra::Format::BF16),
                              std::pair("f32", algebra::Format::F32)})
    for (const auto &[schedule, length] : kinds) {
      INFO(schedule.text() << " " << type);
      Case open = activation("\"*\"", type);
      std::optional<Kernel> kernel = lower(open, schedule);
      REQUIRE(kernel);
      REQUIRE(kernel->steps.size() == 1);
      CHECK(kernel->func.getSplitAttr() ==
            kernel::SplitAttr::get(&context(), "out", length, 0));
      CHECK(lowering::workspaceOf(open.contract(), open.op(), schedule) == "0");
      CHECK(succeeded(interpreter::proveSchedule(open.contract(), open.op(),
                                                 kernel->func)));
      for (int64_t out : {int64_t(1), length - 1, length, length + 1,
                          3 * length + 5})
        agree(open, *kernel, format, 2, out);
      // The row ends in a stretch, and with one.
      for (int64_t out : {2 * length + 24, 2 * length}) {
        Case fixed = activation(std::to_string(out), type);
        kernel = lower(fixed, schedule);
        REQUIRE(kernel);
        CHECK(kernel->func.getSplitAttr() ==
              kernel::SplitAttr::get(&context(), "", (out + length - 1) / length,
                                     0));
        CHECK(succeeded(interpreter::proveSchedule(
            fixed.contract(), fixed.op(), kernel->func)));
        agree(fixed, *kernel, format, 3, out);
      }
    }
}

TEST_CASE("a stretch that is another program's is found") {
  for (const char *out : {"\"*\"", "640"}) {
    Case of = activation(out, "f32");
    std::optional<Kernel> kernel = lower(of, stretches(32, 32, 16, 256));
    REQUIRE(kernel);
    kernel->func.walk([](kernel::PartOp part) {
      mlir::OpBuilder builder(part);
      part.replaceAllUsesWith(mlir::Value(mlir::arith::ConstantOp::create(
          builder, part.getLoc(), builder.getI64IntegerAttr(0))));
    });
    Said said;
    CHECK(failed(interpreter::proveSchedule(of.contract(), of.op(),
                                            kernel->func)));
    CHECK_THAT(said.text, Contains("element 0 of tensor 'y' a second time"));
  }
}

TEST_CASE("programs share rows of elements where lanes have one row") {
  Case of = activation("\"*\"", "f32");
  auto why = [&](kernel::ScheduleAttr schedule) {
    return lowering::whyNot(of.contract(), of.op(), schedule)
        .value_or("accepted");
  };
  CHECK(why(stretches(32, 32, 16, 256)) == "accepted");
  CHECK_THAT(why(stretches(32, 32, 16, 256, false, 8)),
             Contains("operator silu_and_mul has the output 'y' with the "
                      "reduced dim"));
  CHECK_THAT(why(stretches(16, 16, 1, 256, true)),
             Contains("operator silu_and_mul has no nodes; programs can share "
                      "its rows on GPUs"));
}
