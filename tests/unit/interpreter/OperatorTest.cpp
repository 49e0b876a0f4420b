// OperatorTest.cpp - nodes on nodes, open orders, exact products, constants
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Parser/Parser.h"
#include "tests/unit/interpreter/Fixture.h"

#include <catch2/catch.hpp>

using namespace bitpact;
using namespace bitpact::tests;
using Catch::Contains;

namespace {

/// y = x·w − Σ(|x| − max x) / n and s = 0.1 − that sum, with merges of the
/// maximum and of the sum as given, the sum rounded to a format, and the
/// product of y exact.
Case operatorOf(const std::string &maximum, const std::string &sum,
                const std::string &digits = "sweep:* lane:16",
                const std::string &total = "bf16") {
  std::string text = R"(
!all = !pact.real<["tokens", "hidden"]>
!row = !pact.real<["tokens"]>
!one = !pact.real<[]>
pact.primitive @add step sum (%x: f32, %acc: f32) -> f32 {
  %r = arith.addf %acc, %x : f32
  pact.yield %r : f32
}
pact.primitive @most step max (%x: f32, %acc: f32) -> f32 {
  %r = arith.maximumf %acc, %x : f32
  pact.yield %r : f32
}
pact.operator @f version 1 dims ["tokens", "hidden"] {
  %x = pact.input "x" : !all
  %w = pact.input "w" : !all
  %m = pact.reduce "most" max over "hidden" (%x) : (!all) -> !row
  %a = pact.abs %x : (!all) -> !all
  %d = pact.sub %a, %m site "shifted" : (!all, !row) -> !all
  %s = pact.reduce "sum" sum over "hidden" (%d) site "total" : (!all) -> !row
  %n = pact.extent "hidden" : !one
  %mean = pact.div %s, %n : (!row, !one) -> !row
  %p = pact.mul %x, %w site "product" : (!all, !all) -> !all
  %y = pact.sub %p, %mean : (!all, !row) -> !all
  pact.output "y" %y : !all
  %tenth = pact.constant "0.1" : !one
  %t = pact.sub %tenth, %s : (!one, !row) -> !row
  pact.output "s" %t : !row
}
pact.contract "c" of @f dims {tokens = ?, hidden = 70}
  types {x = bf16, w = f16, y = bf16, s = f64} params {} nodes {
    most = #pact.node<domain "hidden" partition "sweep:* lane:16" merge [)" +
                     maximum + R"(] start identity accumulator f32>,
    sum = #pact.node<domain "hidden" partition ")" +
                     digits + R"(" merge [)" + sum +
                     R"(] start first accumulator f32>}
  rounding {product = #pact.rounding<exact>, shifted = #pact.rounding<f16 rne>,
            total = #pact.rounding<)" +
                     total + R"( rne>,
            s = #pact.rounding<f64 rne>, y = #pact.rounding<bf16 rne>}
  primitives {most.step = @most, sum.step = @add})";
  Said said;
  Case made;
  made.name = "operator";
  made.read.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  INFO(said.text);
  REQUIRE(made.read.module);
  return made;
}

const char *const kHalving = R"("sweep chain", "lane halving")";
const char *const kPairwise = R"("sweep chain", "lane pairwise")";
const char *const kOpen = R"("sweep chain", "lane any")";

} // namespace

TEST_CASE("operators with several nodes and exact products are proved") {
  int proved = 0;
  for (const char *maximum : {kHalving, kOpen})
    for (const char *sum : {kHalving, kPairwise}) {
      Case each = operatorOf(maximum, sum);
      for (kernel::ScheduleAttr schedule : allSchedules()) {
        std::optional<Kernel> kernel = lower(each, schedule);
        if (!kernel)
          continue;
        INFO(maximum << " " << sum << " " << schedule.text());
        Said said;
        auto report = interpreter::interpretTrees(each.contract(), each.op(),
                                                  kernel->steps, 70, 2);
        INFO(said.text);
        REQUIRE(succeeded(report));
        INFO((report->equal() ? "" : report->differences[0]));
        REQUIRE(report->equal());
        // Two nodes of two rows, a node before those that need it.
        REQUIRE(report->trees.size() == 4);
        CHECK(report->trees[0].node == "most");
        CHECK(report->trees[1].node == "sum");
        ++proved;
      }
    }
  CHECK(proved >= 12);
}

TEST_CASE("a sum that is not rounded at its site is another value") {
  std::optional<Kernel> kernel =
      lower(operatorOf(kHalving, kHalving, "sweep:* lane:16", "f32"),
            schedule("row_per_group", 16, 16, 0, 4));
  REQUIRE(kernel);
  Case rounded = operatorOf(kHalving, kHalving);
  Said said;
  REQUIRE(failed(interpreter::proveSchedule(rounded.contract(), rounded.op(),
                                            kernel->steps)));
  CHECK_THAT(said.text, Contains("does not keep its contract"));
}

// Digits of two nodes can be equal and mean other elements: (1, 0) is element
// 16 above and 8 here. A value kept for one must not serve the other.
TEST_CASE("nodes with as many digits of other lengths do not share elements") {
  int proved = 0;
  for (const char *digits :
       {"sweep:* lane:8", "sweep:5 lane:14", "sweep:2@64 lane:64"}) {
    bool halving = std::string(digits).find("14") == std::string::npos;
    Case each = operatorOf(kHalving, halving ? kHalving : kPairwise, digits);
    for (kernel::ScheduleAttr schedule : allSchedules()) {
      std::optional<Kernel> kernel = lower(each, schedule);
      if (!kernel)
        continue;
      INFO(digits << " " << schedule.text());
      Said said;
      auto report = interpreter::interpretTrees(each.contract(), each.op(),
                                                kernel->steps, 70, 1);
      INFO(said.text);
      REQUIRE(succeeded(report));
      INFO((report->equal() ? "" : report->differences[0]));
      CHECK(report->equal());
      ++proved;
    }
  }
  CHECK(proved >= 6);
}

TEST_CASE("the innermost node that differs is the one named") {
  kernel::ScheduleAttr lanes = schedule("row_per_group", 16, 16, 0, 4);
  auto said = [&](const Case &kernelOf, const Case &contract) {
    std::optional<Kernel> kernel = lower(kernelOf, lanes);
    REQUIRE(kernel);
    Said said;
    REQUIRE(failed(interpreter::proveSchedule(contract.contract(),
                                              contract.op(), kernel->steps)));
    return said.text;
  };
  Case first = operatorOf(kHalving, kHalving);
  CHECK_THAT(said(operatorOf(kPairwise, kHalving), first),
             Contains("does not keep its contract: node 'most', row 0"));
  CHECK_THAT(said(operatorOf(kHalving, kPairwise), first),
             Contains("does not keep its contract: node 'sum', row 0"));
  // Maxima in any order are one, so an open order has no wrong kernel here.
  std::optional<Kernel> kernel = lower(operatorOf(kPairwise, kHalving), lanes);
  Case open = operatorOf(kOpen, kHalving);
  CHECK(succeeded(
      interpreter::proveSchedule(open.contract(), open.op(), kernel->steps)));
}
