// ElementwiseTest.cpp - operations between reductions, and their sites
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/algebra/ExpectRule.h"
#include "tests/unit/reference/Contracts.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace bitpact::tests;
using bitpact::algebra::Format;
using bitpact::reference::Evaluator;
using nlohmann::json;

static json op(const std::string &id, const std::string &name,
               const std::vector<std::string> &args,
               const std::string &site = "") {
  json result = {{"id", id}, {"op", name}, {"args", args}};
  if (!site.empty())
    result["site"] = site;
  return result;
}

static json output(const std::string &value) {
  return {{"op", "output"}, {"tensor", "y"}, {"site", "y"}, {"args", {value}}};
}

static json rne(const std::string &format) {
  return {{"format", format}, {"mode", "rne"}};
}

/// y for one element of x, w and c.
static double eval(const json &body, const json &rounding,
                   const std::string &type, const std::string &out, double x,
                   double w = 0, double c = 0) {
  Evaluator evaluator(elementwiseContract(body, rounding, type, out));
  Format format = *bitpact::algebra::parseFormat(type);
  return valuesOf(evaluator
                      .run({{"x", tensorOf(format, {1}, {x})},
                            {"w", tensorOf(format, {1}, {w})},
                            {"c", tensorOf(format, {1}, {c})}})
                      .at("y"))[0];
}

static const json none = json::object();

TEST_CASE("E1: one operation in the widest format, at least f32") {
  json sum = {op("v3", "add", {"v0", "v1"}), output("v3")};
  CHECK(eval(sum, none, "f16", "f32", 2048, 1) == 2049); // not f16's 2048
  CHECK(eval(sum, none, "f16", "f16", 2048, 1) == 2048); // the site's tie
  CHECK(eval(sum, none, "bf16", "f32", 256, 1) == 257);
  CHECK(eval(sum, none, "f32", "f32", 1, 0x1p-24) == 1);
  CHECK(eval(sum, none, "f32", "f64", 1, 0x1p-24) == 1); // widened afterwards
  CHECK(eval(sum, none, "f64", "f64", 1, 0x1p-24) == 1 + 0x1p-24);
  // One rounding to f32 of the f64 sum, not two.
  CHECK(eval(sum, none, "f64", "f32", 1 + 0x1p-24, 0x1p-50) == 1 + 0x1p-23);
}

TEST_CASE("all elementwise operations") {
  auto two = [](const char *name) {
    return json{op("v3", name, {"v0", "v1"}), output("v3")};
  };
  CHECK(eval(two("sub"), none, "f32", "f32", 3, 5) == -2);
  CHECK(eval(two("mul"), none, "f32", "f32", 3, 5) == 15);
  CHECK(eval(two("div"), none, "f32", "f32", 1, 3) == 11184811 * 0x1p-25);
  CHECK(eval(two("max"), none, "f32", "f32", -3, -5) == -3);
  CHECK(std::isnan(eval(two("max"), none, "f32", "f32", NAN, 1)));
  CHECK_FALSE(std::signbit(eval(two("max"), none, "f32", "f32", -0.0, 0)));
  json neg = {op("v3", "neg", {"v0"}), output("v3")};
  CHECK(std::signbit(eval(neg, none, "bf16", "bf16", 0)));
  json abs = {op("v3", "abs", {"v0"}), output("v3")};
  CHECK(eval(abs, none, "f16", "f16", -2) == 2);
}

TEST_CASE("association is the operator's") {
  // (x * w) * c against x * (w * c): the first overflows.
  json left = {op("v3", "mul", {"v0", "v1"}), op("v4", "mul", {"v3", "v2"}),
               output("v4")};
  json right = {op("v3", "mul", {"v1", "v2"}), op("v4", "mul", {"v0", "v3"}),
                output("v4")};
  CHECK(eval(left, none, "f32", "f32", 0x1p100, 0x1p100, 0x1p-100) == INFINITY);
  CHECK(eval(right, none, "f32", "f32", 0x1p100, 0x1p100, 0x1p-100) == 0x1p100);
}

TEST_CASE("a site rounds, and its consumers see that") {
  json body = {op("v3", "mul", {"v0", "v1"}, "p"),
               op("v4", "sub", {"v3", "v2"}), output("v4")};
  double x = 1 + 0x1p-7; // x * x = 1 + 2^-6 + 2^-14
  auto with = [&](const char *format) {
    return eval(body, {{"p", rne(format)}}, "bf16", "f32", x, x, 1);
  };
  CHECK(with("f32") == 0x1p-6 + 0x1p-14);
  CHECK(with("f64") == 0x1p-6 + 0x1p-14); // wider: nothing is lost
  CHECK(with("bf16") == 0x1p-6);
  CHECK(with("f16") == 0x1p-6);
  // A site in f64 makes its consumer f64 (E1): 1 + 2^-30 is not lost.
  json wide = {op("v3", "mul", {"v0", "v1"}, "p"),
               op("v4", "add", {"v3", "v2"}), output("v4")};
  CHECK(eval(wide, {{"p", rne("f64")}}, "f32", "f64", 1, 1, 0x1p-30) ==
        1 + 0x1p-30);
  CHECK(eval(wide, {{"p", rne("f32")}}, "f32", "f64", 1, 1, 0x1p-30) == 1);
}

TEST_CASE("an exact product is taken by one fma") {
  double a = 1 + 0x1p-12, square = 1 + 0x1p-11; // a * a = square + 2^-24
  auto run = [&](const json &consumer, double c, const json &site) {
    json body = {op("v3", "mul", {"v0", "v1"}, "p"), consumer, output("v4")};
    return eval(body, {{"p", site}}, "f32", "f32", a, a, c);
  };
  json add = op("v4", "add", {"v3", "v2"}),
       addSwapped = op("v4", "add", {"v2", "v3"});
  json sub = op("v4", "sub", {"v3", "v2"}),
       subSwapped = op("v4", "sub", {"v2", "v3"});
  CHECK(run(add, -square, "exact") == 0x1p-24);
  CHECK(run(add, -square, rne("f32")) == 0);
  CHECK(run(addSwapped, -square, "exact") == 0x1p-24);
  CHECK(run(sub, square, "exact") == 0x1p-24);
  CHECK(run(subSwapped, square, "exact") == -0x1p-24);
  CHECK(run(subSwapped, square, rne("f32")) == 0);
  // -(a * b) + c keeps c's sign where the product is zero.
  CHECK(std::signbit(eval({op("v3", "mul", {"v0", "v1"}, "p"),
                           op("v4", "sub", {"v2", "v3"}), output("v4")},
                          {{"p", "exact"}}, "f32", "f32", 0, 1, -0.0)));
}

TEST_CASE("constants and extents take their consumer's format") {
  json third = {{{"id", "k"}, {"op", "constant"}, {"value", "0.1"}},
                op("v3", "mul", {"v0", "k"}),
                output("v3")};
  CHECK(eval(third, none, "f32", "f64", 1) == static_cast<double>(0.1f));
  CHECK(eval(third, none, "f64", "f64", 1) == 0.1);
  // 1 + 2^-24 + 2^-60: through f64 it would be the tie, and round to 1.
  json once = {{{"id", "k"},
                {"op", "constant"},
                {"value", "1.0000000596046447753914656"}},
               op("v3", "mul", {"v0", "k"}),
               output("v3")};
  CHECK(eval(once, none, "f32", "f32", 1) == 1 + 0x1p-23);
  json extent = {{{"id", "n"}, {"op", "extent"}, {"dim", "n"}},
                 op("v3", "div", {"v0", "n"}),
                 output("v3")};
  Evaluator single(elementwiseContract(extent, none, "f32", "f64"));
  Evaluator twice(elementwiseContract(extent, none, "f64", "f64"));
  std::vector<double> ones(3, 1);
  auto first = [&](const Evaluator &evaluator, Format format) {
    Tensor t = tensorOf(format, {3}, ones);
    return valuesOf(evaluator.run({{"x", t}, {"w", t}, {"c", t}}).at("y"))[0];
  };
  CHECK(first(single, Format::F32) == static_cast<double>(1.0f / 3.0f));
  CHECK(first(twice, Format::F64) == 1.0 / 3.0);
}

TEST_CASE("E2: a NaN is stored canonically, whatever came in") {
  json neg = {op("v3", "neg", {"v0"}), output("v3")};
  auto stored = [&](const char *type, uint64_t bits) {
    Format format = *bitpact::algebra::parseFormat(type);
    Tensor x = tensorOfBits(format, {1}, {bits});
    return bitsOf(Evaluator(elementwiseContract(neg, none, type, type))
                      .run({{"x", x}, {"w", x}, {"c", x}})
                      .at("y"))[0];
  };
  CHECK(stored("bf16", 0xff81) == 0x7fc0);
  CHECK(stored("f16", 0x7c01) == 0x7e00);
  CHECK(stored("f32", 0xffc12345) == 0x7fc00000);
  CHECK(stored("f64", 0xfff0000000000001) == 0x7ff8000000000000);
  // A number keeps its bits.
  CHECK(stored("bf16", 0x0001) == 0x8001);
}

static void refuses(const std::string &rule, const std::string &text,
                    const json &body, const json &rounding) {
  expectRule(rule, text, [&] {
    Evaluator(elementwiseContract(body, rounding, "f32", "f32"));
  });
}

TEST_CASE("R1 to R4, P4: sites") {
  json product = op("v3", "mul", {"v0", "v1"}, "p");
  json sum = op("v4", "add", {"v3", "v2"});
  refuses("R1", "rounding.p: the site is not bound",
          {product, sum, output("v4")}, none);
  refuses("R2", "rounding.q: the operator has no such site",
          {product, sum, output("v4")}, {{"p", rne("f32")}, {"q", rne("f32")}});
  refuses("R3", "'v3' is an exact product", {product, output("v3")},
          {{"p", "exact"}});
  refuses("R3", "'v3' is an exact product",
          {product, op("v4", "mul", {"v3", "v2"}), output("v4")},
          {{"p", "exact"}});
  refuses("R3", "site 's' is exact, but no multiplication",
          {op("v3", "add", {"v0", "v1"}, "s"), output("v3")}, {{"s", "exact"}});
  refuses("R3", "both operands of an addition are exact products",
          {product, op("v4", "mul", {"v0", "v2"}, "q"),
           op("v5", "add", {"v3", "v4"}), output("v5")},
          {{"p", "exact"}, {"q", "exact"}});
  refuses("R4", "rounding.p: the mode is \"rtz\", there is: rne",
          {product, sum, output("v4")},
          {{"p", {{"format", "f32"}, {"mode", "rtz"}}}});
  refuses("P1", "rounding.p: unknown format 'i32'",
          {product, sum, output("v4")}, {{"p", rne("i32")}});
  json contract = elementwiseContract({op("v3", "neg", {"v0"}), output("v3")},
                                      none, "f32", "bf16");
  contract["types"]["y"] = "f16";
  expectRule("P4", "types.y: the tensor is f16, its site 'y' rounds to bf16",
             [&] { Evaluator evaluator(contract); });
  contract["types"]["y"] = "bf16";
  contract["rounding"]["y"] = "exact";
  expectRule("R3", "rounding.y: exact is for a multiplication",
             [&] { Evaluator evaluator(contract); });
}
