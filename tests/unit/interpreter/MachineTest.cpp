// MachineTest.cpp - kernels that break their promises, one by one
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Parser/Parser.h"
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// A kernel from x to y, both f32 of 8 elements, on 8 lanes in subgroups of 4.
std::string kernel(const std::string &body) {
  return R"(kernel.func @f(%x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>,
      %n: i64) slots ["x", "y", "n"] rows "" schedule <"row_per_group",
      lanes = 8, subgroup = 4, programs_per_group = 1, vector_bytes = 0,
      unroll = 16> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %lane = kernel.lane : vector<8xi64>
)" + body +
         "\n  kernel.return\n}\n";
}

const char *const kStore = R"(
  kernel.store %r to %y[%zero] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>)";
const char *const kLoad = R"(
  %v = kernel.load %x[%zero] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>)";

struct Ran {
  std::vector<float> y;
  std::string said;
};

Ran run(const std::string &body) {
  Ran ran;
  Said said;
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(kernel(body), &context());
  INFO(said.text);
  REQUIRE(module);
  std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  reference::Tensor in{algebra::Format::F32, {8}, {}};
  reference::Tensor out = in;
  in.bytes.resize(32);
  std::memcpy(in.bytes.data(), x.data(), 32);
  auto got =
      interpreter::interpretNumbers(*module->getOps<kernel::FuncOp>().begin(),
                                    {{"x", in}, {"y", out}}, {{"n", 8}});
  ran.said = said.text;
  if (succeeded(got)) {
    ran.y.resize(8);
    std::memcpy(ran.y.data(), got->at("y").bytes.data(), 32);
  }
  return ran;
}

} // namespace

TEST_CASE("lanes run in lockstep") {
  Ran ran = run(std::string(kLoad) + R"(
  %p = kernel.exchange %v distance 1 : vector<8xf32>
  %g:2 = kernel.gather %v subgroup 4
      : vector<8xf32> -> vector<8xf32>, vector<8xf32>
  %s = arith.addf %p, %g#1 : vector<8xf32>
  %c = arith.constant dense<0.5> : vector<8xf32>
  %r = kernel.fma %s, %c, %v : vector<8xf32>)" +
                kStore);
  CHECK(ran.said == "");
  // (x[l^1] + x[4 + l mod 4]) / 2 + x[l]
  CHECK(ran.y ==
        std::vector<float>{4.5, 5.5, 8.5, 9.5, 10.5, 11.5, 14.5, 15.5});
}

TEST_CASE("control flow carries values") {
  Ran ran = run(std::string(kLoad) + R"(
  %three = arith.constant 3 : i64
  %sum = scf.for %i = %zero to %three step %one iter_args(%a = %v)
      -> (vector<8xf32>) : i64 {
    %b = arith.addf %a, %v : vector<8xf32>
    scf.yield %b : vector<8xf32>
  }
  %w:2 = scf.while (%k = %zero, %a = %sum) : (i64, vector<8xf32>)
      -> (i64, vector<8xf32>) {
    %go = arith.cmpi slt, %k, %one : i64
    scf.condition(%go) %k, %a : i64, vector<8xf32>
  } do {
  ^bb0(%k: i64, %a: vector<8xf32>):
    %next = arith.addi %k, %one : i64
    %b = arith.addf %a, %a : vector<8xf32>
    scf.yield %next, %b : i64, vector<8xf32>
  }
  %is = arith.cmpi eq, %w#0, %one : i64
  %r = scf.if %is -> (vector<8xf32>) {
    scf.yield %w#1 : vector<8xf32>
  } else {
    scf.yield %v : vector<8xf32>
  })" + kStore);
  CHECK(ran.said == "");
  CHECK(ran.y == std::vector<float>{8, 16, 24, 32, 40, 48, 56, 64});
}

TEST_CASE("an access outside of a tensor names lane, offset and tensor") {
  Ran ran = run(R"(
  %r = kernel.load %x[%one] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>)" +
                std::string(kStore));
  CHECK_THAT(ran.said, Contains("kernel.load of program 0, lane 7: offset 8 is "
                                "outside of tensor 'x' with 8 elements"));
}

TEST_CASE("a lane that is masked off reads nothing, and its value is nothing") {
  std::string masked = R"(
  %limit = arith.constant dense<7> : vector<8xi64>
  %m = arith.cmpi slt, %lane, %limit : vector<8xi64>
  %r = kernel.load %x[%one] mask (%m : vector<8xi1>) lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>)";
  Ran ran = run(masked + kStore);
  CHECK_THAT(ran.said, Contains("kernel.store of program 0, lane 7: writes an "
                                "unspecified value to element 7"));
  ran = run(masked + R"(
  %c = arith.constant dense<9.0> : vector<8xf32>
  %s = arith.select %m, %r, %c : vector<8xi1>, vector<8xf32>
  kernel.store %s to %y[%zero] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>)");
  CHECK(ran.said == "");
  CHECK(ran.y == std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("less alignment than stated is an error") {
  Ran ran = run(R"(
  %four = arith.constant dense<0> : vector<8xi64>
  %r = kernel.load %x[%zero] lane_stride 1 align 8
      : !kernel.buffer<f32>, vector<8xf32>)" +
                std::string(kStore));
  CHECK_THAT(ran.said, Contains("kernel.load of program 0, lane 1: offset 1 of "
                                "tensor 'x' is not aligned to 8 bytes"));
}

TEST_CASE("scratch must be written before it is read, and has an end") {
  Ran ran = run(R"(
  %s = kernel.scratch : <2 x vector<8xf32>>
  %r = kernel.peek %s[%one] : <2 x vector<8xf32>>, vector<8xf32>)" +
                std::string(kStore));
  CHECK_THAT(ran.said, Contains("kernel.peek of program 0: reads cell 1, which "
                                "was never written"));
  ran = run(std::string(kLoad) + R"(
  %two = arith.constant 2 : i64
  %s = kernel.scratch : <2 x vector<8xf32>>
  kernel.poke %v, %s[%two] : vector<8xf32>, <2 x vector<8xf32>>)");
  CHECK_THAT(ran.said, Contains("kernel.poke of program 0: cell 2 of 2"));
}

TEST_CASE("an exchange stays in its subgroup") {
  Ran ran = run(std::string(kLoad) + R"(
  %r = kernel.exchange %v distance 4 : vector<8xf32>)" +
                kStore);
  CHECK_THAT(
      ran.said,
      Contains("kernel.exchange of program 0, lane 0: distance 4 reaches "
               "lane 4, beyond the subgroup of 4 lanes"));
}

TEST_CASE("a gather takes the schedule's subgroups") {
  Ran ran = run(std::string(kLoad) + R"(
  %g:4 = kernel.gather %v subgroup 2 : vector<8xf32>
      -> vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  %r = arith.negf %g#0 : vector<8xf32>)" +
                kStore);
  CHECK_THAT(ran.said, Contains("kernel.gather of program 0: subgroup 2 in a "
                                "schedule with 4"));
}

TEST_CASE("every output element is written once") {
  Ran ran = run(std::string(kLoad) + R"(
  kernel.store %v to %y[%zero] lane_stride 0 align 4
      : !kernel.buffer<f32>, vector<8xf32>)");
  CHECK_THAT(ran.said, Contains("kernel.store of program 0, lane 1: writes "
                                "element 0 of tensor 'y' a second time"));
  ran = run("");
  CHECK_THAT(ran.said, Contains("element 0 of output 'y' was never written"));
  ran = run(std::string(kLoad) + R"(
  kernel.store %v to %x[%zero] lane_stride 1 align 4
      : !kernel.buffer<f32>, vector<8xf32>)");
  CHECK_THAT(ran.said, Contains("lane 0: writes input 'x'"));
}
