// PrimitiveTest.cpp - every operation a primitive's body may have
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "contracts/reference/Primitive.h"
#include "tests/unit/algebra/ExpectRule.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace bitpact::reference;
using nlohmann::json;

/// A function of `args` with the operations `body`, the last one yielded.
static json function(const std::vector<std::string> &args,
                     const std::string &result, const std::vector<json> &body) {
  return {{"kind", "function"},
          {"args", args},
          {"result", result},
          {"body", body},
          {"yield", body.back().at("id")}};
}

static double run(const json &definition, std::vector<double> arguments) {
  Primitive primitive(definition, "definitions.test");
  std::vector<Register> file(primitive.registers());
  for (size_t i = 0; i < arguments.size(); ++i)
    file[i].real = arguments[i];
  return primitive.run(file.data());
}

static json op(const std::string &id, const std::string &name,
               const std::string &type, const std::vector<std::string> &args) {
  return {{"id", id}, {"op", name}, {"type", type}, {"args", args}};
}

static json constant(const std::string &id, const std::string &type,
                     const std::string &bits) {
  return {{"id", id}, {"op", "constant"}, {"type", type}, {"bits", bits}};
}

static double unary(const std::string &name, const std::string &type,
                    double a) {
  return run(function({type}, type, {op("v0", name, type, {"a0"})}), {a});
}

static double binary(const std::string &name, const std::string &type, double a,
                     double b) {
  return run(function({type, type}, type, {op("v0", name, type, {"a0", "a1"})}),
             {a, b});
}

/// The result of an integer operation on i32 constants, seen as f32 bits.
static uint32_t integer(const std::string &name, const std::string &a,
                        const std::string &b) {
  double value =
      run(function({"f32"}, "f32",
                   {constant("v0", "i32", a), constant("v1", "i32", b),
                    op("v2", name, "i32", {"v0", "v1"}),
                    op("v3", "bitcast", "f32", {"v2"})}),
          {0});
  return static_cast<uint32_t>(encode(Format::F32, value));
}

/// Selects 1 or 0 by a comparison.
static bool compares(const std::string &pred, double a, double b) {
  json cmp = op("v0", "cmp", "i1", {"a0", "a1"});
  cmp["pred"] = pred;
  return run(function({"f32", "f32"}, "f32",
                      {cmp, constant("v1", "f32", "3f800000"),
                       constant("v2", "f32", "0"),
                       op("v3", "select", "f32", {"v0", "v1", "v2"})}),
             {a, b}) == 1;
}

static bool comparesIntegers(const std::string &pred, const std::string &a,
                             const std::string &b) {
  json cmp = op("v2", "icmp", "i1", {"v0", "v1"});
  cmp["pred"] = pred;
  return run(function({"f32"}, "f32",
                      {constant("v0", "i32", a), constant("v1", "i32", b), cmp,
                       constant("v3", "f32", "3f800000"),
                       constant("v4", "f32", "0"),
                       op("v5", "select", "f32", {"v2", "v3", "v4"})}),
             {0}) == 1;
}

TEST_CASE("float operations round in their own format") {
  // 1 + 2^-9 needs ten bits: bf16 has eight, f16 eleven.
  CHECK(binary("add", "bf16", 1, 0x1p-9) == 1);
  CHECK(binary("add", "f16", 1, 0x1p-9) == 1 + 0x1p-9);
  CHECK(binary("add", "f32", 1, 0x1p-24) == 1);
  CHECK(binary("add", "f64", 1, 0x1p-24) == 1 + 0x1p-24);
  CHECK(binary("sub", "f32", 1, 0x1p-25) == 1); // half an ulp below 1, to even
  CHECK(binary("sub", "f32", 1, 0x1.8p-25) == 1 - 0x1p-24);
  CHECK(binary("mul", "f16", 256, 256) == INFINITY);
  CHECK(binary("mul", "f32", 256, 256) == 65536);
  CHECK(binary("mul", "f32", 0x1p-100, 0x1p-48) == 0x1p-148); // a subnormal
  CHECK(binary("div", "f32", 1, 3) == 11184811 * 0x1p-25);
  CHECK(binary("div", "f16", 1, 3) == 1365 * 0x1p-12);
  CHECK(binary("div", "f32", -1, 0) == -INFINITY);
  CHECK(std::isnan(binary("div", "f32", 0, 0)));
  CHECK(unary("sqrt", "f32", 2) == 11863283 * 0x1p-23);
  CHECK(std::isnan(unary("sqrt", "f32", -1)));
  CHECK(std::signbit(unary("sqrt", "f32", -0.0)));
  CHECK(std::signbit(unary("neg", "f32", 0)));
  CHECK(unary("neg", "bf16", 3) == -3);
  CHECK(unary("abs", "f64", -3) == 3);
  CHECK_FALSE(std::signbit(unary("abs", "f16", -0.0)));
  CHECK(binary("maximum", "f32", 1, 2) == 2);
  CHECK(std::isnan(binary("maximum", "f32", 1, NAN)));
  CHECK(std::signbit(binary("minimum", "f32", 0.0, -0.0)));
  // (1 + 2^-12)^2 - (1 + 2^-11) keeps 2^-24 only without a rounding between.
  CHECK(run(function({"f32", "f32", "f32"}, "f32",
                     {op("v0", "fma", "f32", {"a0", "a1", "a2"})}),
            {1 + 0x1p-12, 1 + 0x1p-12, -(1 + 0x1p-11)}) == 0x1p-24);
}

TEST_CASE("comparisons order NaN with nothing") {
  CHECK(compares("oeq", 0.0, -0.0));
  CHECK_FALSE(compares("oeq", NAN, NAN));
  CHECK(compares("olt", 1, 2));
  CHECK_FALSE(compares("olt", 2, 2));
  CHECK(compares("ole", 2, 2));
  CHECK_FALSE(compares("ole", NAN, 2));
  CHECK(compares("ogt", 3, 2));
  CHECK(compares("oge", 2, 2));
  CHECK_FALSE(compares("oge", 2, NAN));
  CHECK(compares("une", NAN, NAN));
  CHECK(compares("une", 1, 2));
  CHECK_FALSE(compares("une", 1, 1));
  CHECK(compares("uno", NAN, 1));
  CHECK_FALSE(compares("uno", 1, 1));
  CHECK(compares("ord", 1, 1));
  CHECK_FALSE(compares("ord", 1, NAN));
  CHECK(compares("one", 1, 2));
  CHECK_FALSE(compares("one", 1, NAN));
  CHECK(compares("ueq", 1, NAN));
  CHECK_FALSE(compares("ueq", 1, 2));
  CHECK(compares("ult", NAN, 2));
  CHECK(compares("ult", 1, 2));
  CHECK_FALSE(compares("ult", 2, 1));
  CHECK(compares("uge", 2, 2));
  CHECK(compares("ugt", NAN, NAN));
  CHECK(compares("ule", 2, 2));
  CHECK(compares("true", NAN, 1));
  CHECK_FALSE(compares("false", 1, 1));
}

TEST_CASE("integer operations wrap in their width") {
  CHECK(integer("iadd", "ffffffff", "2") == 1);
  CHECK(integer("isub", "1", "2") == 0x7fc00000); // 0xffffffff is a NaN
  CHECK(integer("isub", "5", "2") == 3);
  CHECK(integer("iand", "ff00", "0ff0") == 0x0f00);
  CHECK(integer("ior", "f000", "000f") == 0xf00f);
  CHECK(integer("ixor", "ffff", "0ff0") == 0xf00f);
  CHECK(integer("ishl", "80000001", "4") == 0x10);
  CHECK(integer("ushr", "80000000", "4") == 0x08000000);
  CHECK(integer("ishr", "80000000", "8") == 0xff800000);
  CHECK(integer("ushr", "80000000", "32") == 0); // by 0x32, past the width
  CHECK(integer("ishl", "1", "20") == 0);        // by 32
  CHECK(comparesIntegers("eq", "7", "7"));
  CHECK(comparesIntegers("ne", "7", "8"));
  CHECK(comparesIntegers("slt", "ffffffff", "0")); // -1 < 0
  CHECK_FALSE(comparesIntegers("ult", "ffffffff", "0"));
  CHECK(comparesIntegers("ugt", "ffffffff", "0"));
  CHECK(comparesIntegers("sge", "0", "ffffffff"));
  CHECK(comparesIntegers("sgt", "0", "80000000"));
  CHECK(comparesIntegers("ule", "3", "3"));
  CHECK(comparesIntegers("sle", "80000000", "3"));
  CHECK(comparesIntegers("uge", "80000000", "3"));
}

TEST_CASE("conversions and views") {
  CHECK(run(function({"f64"}, "f32", {op("v0", "convert", "f32", {"a0"})}),
            {1 + 0x1p-24 + 0x1p-50}) == 1 + 0x1p-23);
  CHECK(run(function({"f32"}, "bf16", {op("v0", "convert", "bf16", {"a0"})}),
            {1 + 0x1p-8}) == 1); // a tie, to even
  CHECK(run(function({"f32"}, "f64", {op("v0", "convert", "f64", {"a0"})}),
            {0x1.234p-140}) == 0x1.234p-140);
  // 2^k through the exponent field: (k + 127) << 23.
  json exp2i = function({"f32"}, "f32",
                        {constant("magic", "f32", "4b400000"), // 12582912
                         op("v0", "add", "f32", {"a0", "magic"}),
                         op("v1", "bitcast", "i32", {"v0"}),
                         constant("bias", "i32", "7f"),
                         op("v2", "iadd", "i32", {"v1", "bias"}),
                         constant("n", "i32", "17"), // 23
                         op("v3", "ishl", "i32", {"v2", "n"}),
                         op("v4", "bitcast", "f32", {"v3"})});
  CHECK(run(exp2i, {5}) == 32);
  CHECK(run(exp2i, {-126}) == 0x1p-126);
  // A NaN has one integer view, whatever made it.
  json quiet = function(
      {"f32", "f32"}, "f32",
      {op("v0", "sub", "f32", {"a0", "a1"}), op("v1", "bitcast", "i32", {"v0"}),
       constant("c", "i32", "40000000"), op("v2", "isub", "i32", {"v1", "c"}),
       op("v3", "bitcast", "f32", {"v2"})});
  CHECK(run(quiet, {INFINITY, INFINITY}) ==
        decode(Format::F32, 0x7fc00000 - 0x40000000));
  // Integers round once: 2^24 + 1 is a tie; 2^60 + 2^36 + 1 is above one.
  auto fromInteger = [&](const char *type, const char *bits, const char *to) {
    return run(
        function({"f32"}, to,
                 {constant("v0", type, bits), op("v1", "convert", to, {"v0"})}),
        {0});
  };
  CHECK(fromInteger("i32", "1000001", "f32") == 0x1p24);
  CHECK(fromInteger("i32", "1000001", "f64") == 0x1p24 + 1);
  CHECK(fromInteger("i32", "ffffffff", "bf16") == -1);
  CHECK(fromInteger("i64", "1000001000000001", "f32") == 0x1p60 + 0x1p37);
  CHECK(fromInteger("i64", "1000001000000000", "f32") == 0x1p60);
  CHECK(fromInteger("i64", "8000000000000000", "f32") == -0x1p63);
  CHECK(fromInteger("i16", "8000", "f32") == -32768);
  CHECK(fromInteger("i1", "1", "f32") == -1);
  // The bits of a bf16 as i16: 1 + 2^-7 is 0x3f81.
  CHECK(run(function({"bf16"}, "bf16",
                     {op("v0", "bitcast", "i16", {"a0"}),
                      constant("v1", "i16", "1"),
                      op("v2", "iadd", "i16", {"v0", "v1"}),
                      op("v3", "bitcast", "bf16", {"v2"})}),
            {1}) == 1 + 0x1p-7);
  // Sign extension to i64, and truncation back.
  json widen = function(
      {"f32"}, "f32",
      {constant("m", "i32", "80000000"), op("w", "convert", "i64", {"m"}),
       constant("s", "i64", "20"), op("h", "ushr", "i64", {"w", "s"}),
       op("t", "convert", "i32", {"h"}), constant("k", "i32", "c0800000"),
       op("x", "iadd", "i32", {"t", "k"}), op("v", "bitcast", "f32", {"x"})});
  // The upper half is all ones: -1 + 0xc0800000 = 0xc07fffff.
  CHECK(run(widen, {0}) == decode(Format::F32, 0xc07fffff));
}

static void refuses(const std::string &rule, const std::string &text,
                    const json &definition) {
  expectRule(rule, text, [&] { Primitive(definition, "definitions.test"); });
}

TEST_CASE("a malformed definition is refused") {
  refuses("A3", "there is no such operation",
          function({"f32"}, "f32", {op("v0", "exp", "f32", {"a0"})}));
  refuses("A3", "it takes 2 operands",
          function({"f32"}, "f32", {op("v0", "add", "f32", {"a0"})}));
  refuses("A3", "'v9' is not defined before its use",
          function({"f32"}, "f32", {op("v0", "neg", "f32", {"v9"})}));
  refuses("A3", "an operand's type is not f64",
          function({"f32"}, "f64", {op("v0", "neg", "f64", {"a0"})}));
  refuses("A3", "does not fit the operation",
          function({"f32"}, "f32", {op("v0", "iadd", "f32", {"a0", "a0"})}));
  refuses("A3", "the types differ in width",
          function({"f32"}, "f64", {op("v0", "bitcast", "f64", {"a0"})}));
  refuses("A3", "it converts no float to an integer",
          function({"f32"}, "f32", {op("v0", "convert", "i32", {"a0"})}));
  refuses("A3", "the name is taken",
          function({"f32"}, "f32", {op("a0", "neg", "f32", {"a0"})}));
  refuses("A3", "it selects by an i1",
          function({"f32"}, "f32",
                   {op("v0", "select", "f32", {"a0", "a0", "a0"})}));
  refuses("A3", "it yields a value of type f32, its result is f16",
          function({"f32"}, "f16", {op("v0", "neg", "f32", {"a0"})}));
  refuses("C4", "'zz' is no hexadecimal number of 32 bits",
          function({"f32"}, "f32", {constant("v0", "f32", "zz")}));
  refuses("C4", "'100000000' is no hexadecimal number of 32 bits",
          function({"f32"}, "f32", {constant("v0", "f32", "100000000")}));
  refuses("P1", "unknown type 'f8'",
          function({"f32"}, "f32", {op("v0", "neg", "f8", {"a0"})}));
  refuses("P1", "unknown format 'i32'",
          function({"i32"}, "f32", {constant("v0", "f32", "0")}));
  json cmp = op("v0", "cmp", "i1", {"a0", "a0"});
  cmp["pred"] = "eq";
  refuses("A3", "there is no predicate 'eq'", function({"f32"}, "f32", {cmp}));
  json step =
      function({"f32", "f32"}, "f32", {op("v0", "add", "f32", {"a0", "a1"})});
  step["kind"] = "step";
  step["reduction"] = "dot";
  step["product"] = "exact";
  refuses("A3", "a dot step takes 3 arguments, it has 2", step);
  step["reduction"] = "mean";
  refuses("A3", "unknown reduction 'mean'", step);
  step["kind"] = "macro";
  refuses("A3", "unknown kind 'macro'", step);
  json atom = {{"kind", "atom"},
               {"reduction", "dot"},
               {"product", "exact"},
               {"atom", "dot.nv"},
               {"L", 16},
               {"F", 25},
               {"args", {"bf16", "f16", "f32"}},
               {"result", "f32"}};
  refuses("A3", "dot.nv(16,25) multiplies two bf16 or two f16", atom);
  atom["result"] = "f64";
  refuses("P3", "f64 is not f32", atom);
}
