// SymbolTest.cpp - symbols are called as declared, and cannot harm the caller
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Symbol.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace bitpact::evidence;
using namespace bitpact::evidence::foreign;
using bitpact::algebra::Format;
using Catch::Contains;

namespace {

using Dims = std::map<std::string, int64_t>;

template <class T>
Tensor tensor(Format format, std::vector<int64_t> shape,
              const std::vector<T> &values) {
  Tensor tensor{format, std::move(shape), {}};
  tensor.bytes.resize(values.size() * sizeof(T));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

Tensor floats(std::vector<int64_t> shape, const std::vector<float> &values) {
  return tensor(Format::F32, std::move(shape), values);
}

template <class T> std::vector<T> values(const Tensor &tensor) {
  std::vector<T> list(tensor.bytes.size() / sizeof(T));
  std::memcpy(list.data(), tensor.bytes.data(), tensor.bytes.size());
  return list;
}

Symbol symbol(const std::string &name, const std::string &signature,
              const Dims &dims, double timeout = 60) {
  SymbolOptions options;
  options.timeout = timeout;
  return Symbol({BITPACT_TEST_SYMBOLS, name}, parseSignature(signature), dims,
                options);
}

Symbol sum(const std::string &name, int64_t n, double timeout = 60) {
  return symbol(name, "f32 sum(i64 n, f32* x)", {{"n", n}}, timeout);
}

std::string complaint(Symbol &&symbol, int64_t n) {
  std::vector<Tensor> run{floats({n}, std::vector<float>(n, 1))};
  try {
    symbol.call({run, run});
  } catch (const UserError &error) {
    return error.text();
  }
  return "";
}

} // namespace

TEST_CASE("a sum of floats, by value", "[symbol]") {
  Symbol chain = sum("chain_sum", 3);
  REQUIRE(chain.inputs().size() == 1);
  CHECK(chain.inputs()[0].text() == "f32[3]");
  CHECK(chain.output().text() == "f32[]");
  // (2^24 + 1) + 1 stays 2^24; 1 + 1 + 2^24 does not.
  auto outputs = chain.call(
      {{floats({3}, {0x1p24f, 1, 1})}, {floats({3}, {1, 1, 0x1p24f})}});
  REQUIRE(outputs.size() == 2);
  CHECK(values<float>(outputs[0]) == std::vector<float>{0x1p24f});
  CHECK(values<float>(outputs[1]) == std::vector<float>{0x1p24f + 2});
}

TEST_CASE("Fortran's references and an output parameter", "[symbol]") {
  Symbol two =
      symbol("two_sums", "void sum(i32* n, f32* x, f32* out)", {{"n", 4}});
  auto outputs = two.call({{floats({4}, {0x1p24f, 1, 1, 1})}});
  // Even positions: 2^24 + 1 = 2^24; odd ones: 2; together 2^24 + 2.
  CHECK(values<float>(outputs[0]) == std::vector<float>{0x1p24f + 2});
}

TEST_CASE("strides leave gaps that are not read", "[symbol]") {
  Symbol dot = symbol("fma_dot",
                      "f64 dot(i32 n, f64* x, i32 incx = 3, f64* y, i32 incy)",
                      {{"n", 3}});
  auto outputs =
      dot.call({{tensor<double>(Format::F64, {3}, {1, 2, 3}),
                 tensor<double>(Format::F64, {3}, {10, 100, 1000})}});
  CHECK(values<double>(outputs[0]) == std::vector<double>{3210});
}

TEST_CASE("bf16 goes in and comes out as its bits", "[symbol]") {
  Symbol brain = symbol("brain_sum", "bf16 sum(i64 n, bf16* x)", {{"n", 2}});
  auto outputs =
      brain.call({{tensor<uint16_t>(Format::BF16, {2}, {0x3f80, 0x4000})}});
  CHECK(values<uint16_t>(outputs[0]) == std::vector<uint16_t>{0x4040});
}

TEST_CASE("every layout of a product of matrices", "[symbol]") {
  std::string order = GENERATE("101", "102");
  std::string transa = GENERATE("111", "112"), transb = GENERATE("111", "112");
  Symbol gemm =
      symbol("plain_gemm",
             "void gemm(i32 order = " + order + ", i32 transa = " + transa +
                 ", i32 transb = " + transb +
                 ", i32 m, i32 n, i32 k, f32 alpha, f32* a, i32 lda "
                 "= 5, f32* b, i32 ldb = 6, f32 beta, f32* c, i32 "
                 "ldc = 7)",
             {{"m", 2}, {"n", 3}, {"k", 2}});
  auto outputs = gemm.call(
      {{floats({2, 2}, {1, 2, 3, 4}), floats({2, 3}, {1, 10, 100, 5, 7, 9})}});
  CHECK(outputs[0].shape == std::vector<int64_t>{2, 3});
  CHECK(values<float>(outputs[0]) ==
        std::vector<float>{11, 24, 118, 23, 58, 336});
}

TEST_CASE("what a symbol does wrong is told, with the shape", "[symbol]") {
  CHECK_THAT(complaint(sum("crashes", 5), 5),
             Contains("crashes: error: the process that called it was ended by "
                      "signal 11 (Segmentation fault), in a call (call 1 of 2)"
                      "; input x=f32[5]"));
  CHECK(complaint(sum("crashes", 4), 4) == "");
  CHECK_THAT(complaint(sum("aborts", 4), 4), Contains("signal 6 (Aborted)"));
  CHECK_THAT(complaint(sum("leaves", 4), 4),
             Contains("ended the process that called it, with status 3") &&
                 Contains("it printed: unlicensed"));
  CHECK_THAT(complaint(sum("hangs", 4, 0.2), 4),
             Contains("did not return in a call within 0.2 s") &&
                 Contains("x=f32[4]"));
  CHECK_THAT(complaint(sum("reads_far_beyond", 4), 4), Contains("signal 11"));
  CHECK_THAT(complaint(symbol("writes_beyond",
                              "void sum(i64 n, f32* x, f32* out)", {{"n", 4}}),
                       4),
             Contains("wrote beyond the end of 'out'"));
}

TEST_CASE("after a crash the next call has a process of its own", "[symbol]") {
  Symbol one = sum("crashes", 5);
  std::vector<Tensor> run{floats({5}, {1, 1, 1, 1, 1})};
  CHECK_THROWS_AS(one.call({run}), UserError);
  CHECK_THROWS_AS(one.call({run}), UserError);
}

TEST_CASE("what is no error is a note", "[symbol]") {
  std::vector<Tensor> run{floats({4}, {1, 1, 1, 1})};
  Symbol prints = sum("prints", 4);
  prints.call({run});
  REQUIRE(!prints.notes().empty());
  CHECK(prints.notes()[0] == "it printed: summing 4");
  Symbol changes = sum("changes_x", 4);
  CHECK(values<float>(changes.call({run, run})[1]) == std::vector<float>{4});
  REQUIRE(!changes.notes().empty());
  CHECK(changes.notes()[0] == "it changes its input 'x'");
  // The filler after an operand is no number.
  CHECK(std::isnan(values<float>(sum("reads_beyond", 4).call({run})[0])[0]));
}

TEST_CASE("a symbol that remembers is found out", "[symbol]") {
  std::vector<Tensor> run{floats({4}, {1, 1, 1, 1})};
  CHECK_NOTHROW(sum("chain_sum", 4).requireDeterministic({run}));
  CHECK_THROWS_WITH(sum("drifts", 4).requireDeterministic({run}),
                    Contains("is not deterministic") &&
                        Contains("0x40800000 and as 0x40A00000"));
}

TEST_CASE("libraries and symbols that are not there", "[symbol]") {
  Signature signature = parseSignature("f32 sum(i64 n, f32* x)");
  CHECK_THROWS_WITH(Symbol({"/none/lib.so", "sum"}, signature, {{"n", 1}}),
                    Contains("cannot be loaded") &&
                        Contains("No such file or directory"));
  CHECK_THROWS_WITH(sum("nowhere", 1), Contains("undefined symbol: nowhere"));
  SymbolOptions none;
  none.tool = "/none/bitpact";
  CHECK_THROWS_WITH(
      Symbol({BITPACT_TEST_SYMBOLS, "chain_sum"}, signature, {{"n", 1}}, none),
      Contains("cannot be started: No such file or directory"));
  CHECK_THROWS_WITH(parseSymbolPath("libm.so"), Contains("LIBRARY:SYMBOL"));
  CHECK(parseSymbolPath("/a:b/c.so:f").library == "/a:b/c.so");
}
