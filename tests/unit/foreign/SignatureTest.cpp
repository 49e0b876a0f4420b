// SignatureTest.cpp - declared signatures, and what is wrong with them
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Signature.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/foreign/Command.h"

#include <catch2/catch.hpp>

using namespace bitpact::evidence;
using namespace bitpact::evidence::foreign;
using Catch::Contains;

namespace {

std::string complaint(const std::string &text,
                      const std::map<std::string, int64_t> &dims = {{"n", 8}}) {
  try {
    makeCall(parseSignature(text), dims);
  } catch (const UserError &error) {
    return error.text();
  }
  return "";
}

std::string tensorComplaint(const std::string &text) {
  try {
    parseTensorSignature(text);
  } catch (const UserError &error) {
    return error.text();
  }
  return "";
}

} // namespace

TEST_CASE("the arguments of a preset are those of its convention",
          "[signature]") {
  Call call =
      makeCall(signatureFor("sgemm_", ""), {{"m", 2}, {"n", 3}, {"k", 4}});
  REQUIRE(call.arguments.size() == 15);
  CHECK(call.arguments[0].kind == Argument::Kind::Reference);
  CHECK(call.arguments[0].bits == 'N');
  CHECK(call.arguments[2].bits == 2);
  CHECK(call.arguments[4].bits == 4);
  CHECK(call.arguments[5].bits == 0x3f800000); // alpha, 1
  CHECK(call.arguments[7].bits == 2);          // lda, column-major
  CHECK(call.arguments[9].bits == 4);          // ldb
  CHECK(call.arguments[10].bits == 0);         // beta
  CHECK(call.arguments[13].kind == Argument::Kind::Value);
  CHECK(call.operands[0].strides == std::vector<int64_t>{1, 2});
  Call rows = makeCall(signatureFor("anything", "cblas_sgemm"),
                       {{"m", 2}, {"n", 3}, {"k", 4}});
  CHECK(rows.arguments[0].bits == 101);
  CHECK(rows.operands[0].strides == std::vector<int64_t>{4, 1});
}

TEST_CASE("a transposed gemv is told the matrix as it is stored",
          "[signature]") {
  Call call = makeCall(
      parseSignature("void gemv(char* trans = T, i32* m, i32* n, f32* alpha, "
                     "f32* a, i32* lda, f32* x, i32* incx, f32* beta, f32* y, "
                     "i32* incy) column-major"),
      {{"m", 2}, {"n", 5}});
  CHECK(call.arguments[0].bits == 'T');
  CHECK(call.arguments[1].bits == 5);
  CHECK(call.arguments[2].bits == 2);
  CHECK(call.arguments[5].bits == 5);
  CHECK(call.operands[0].strides == std::vector<int64_t>{5, 1});
  CHECK(call.operands[2].shape == std::vector<int64_t>{2});
}

TEST_CASE("every preset can be called", "[signature]") {
  CHECK(presetSignatures().size() == 12);
  for (const auto &[name, text] : presetSignatures())
    CHECK_NOTHROW(makeCall(
        parseSignature(text),
        text.find(" k,") != std::string::npos
            ? std::map<std::string, int64_t>{{"m", 2}, {"n", 2}, {"k", 2}}
        : text.find("gemv") != std::string::npos
            ? std::map<std::string, int64_t>{{"m", 2}, {"n", 2}}
            : std::map<std::string, int64_t>{{"n", 2}}));
}

TEST_CASE("what is wrong with a signature, and where", "[signature]") {
  CHECK(complaint("f32 sum(i64 n, f32* x)") == "");
  CHECK(complaint("const float sum(size_t n, const float* x)") == "");
  CHECK_THAT(complaint("f33 sum(i64 n, f32* x)"),
             Contains("signature:1:1: error: type 'f33'; there are"));
  CHECK_THAT(complaint("f32 mean(i64 n, f32* x)"),
             Contains("signature:1:5") && Contains("sum, dot, gemv or gemm"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* z)"),
             Contains("parameter 'z' of sum; known are n x incx out"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x, f32* x)"),
             Contains("two parameters 'x'"));
  CHECK_THAT(complaint("f32 sum(i64 n)"), Contains("needs a parameter 'x'"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32 x)"), Contains("is a pointer"));
  CHECK_THAT(complaint("void sum(i64 n, f32* x)"), Contains("parameter 'out'"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x"), Contains("expected ')'"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x) twice"),
             Contains("only column-major"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x, i64 incx = -1)"),
             Contains("it is positive"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x, i32 flags = 99999999999)"),
             Contains("does not fit its type"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x)", {}),
             Contains("the extent of 'n' is needed: --dim n=N"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x)", {{"n", 0}}),
             Contains("n=0 is not in"));
  CHECK_THAT(complaint("f32 sum(i64 n, f32* x)", {{"n", 2}, {"m", 2}}),
             Contains("sum has no dim 'm'"));
  CHECK_THROWS_WITH(signatureFor("my_dot", ""),
                    Contains("needs --signature") && Contains("cblas_sdot"));
  CHECK_THROWS_WITH(signatureFor("my_dot", "sdoot"), Contains("is none"));
}

TEST_CASE("the tensors of a command", "[signature]") {
  TensorSignature norm = parseTensorSignature(
      "bf16[tokens, hidden] rms_norm(bf16[tokens, hidden] x, bf16[hidden] w)");
  CHECK(norm.formula == Formula::RmsNorm);
  CHECK(norm.reduced == "hidden");
  CHECK(norm.dims() == std::vector<std::string>{"tokens", "hidden"});
  TensorSignature columns = parseTensorSignature("f32[n] sum(f32[m,n] x)");
  CHECK(columns.reduced == "m");
  TensorSignature gemm =
      parseTensorSignature("f32[m,n] dot(f32[m,k] a, f32[k,n] b)");
  CHECK(gemm.reduced == "k");
  CHECK(parseTensorSignature("f32 max(f32[n] x)").reduced == "n");

  CHECK_THAT(tensorComplaint("f32 mean(f32[n] x)"), Contains("sum, max, dot"));
  CHECK_THAT(tensorComplaint("f32[n] sum(f32[n] x)"),
             Contains("there is none"));
  CHECK_THAT(tensorComplaint("f32 sum(f32[m,n] x)"), Contains("there are m n"));
  CHECK_THAT(tensorComplaint("f32[k] sum(f32[m,n] x)"),
             Contains("no input has the output's dim 'k'"));
  CHECK_THAT(tensorComplaint("f32 sum(f32[4096] x)"),
             Contains("dim '4096' is no name"));
  CHECK_THAT(tensorComplaint("f32 dot(f32[n] x)"),
             Contains("dot has 2 inputs, not 1"));
  CHECK_THAT(tensorComplaint("f32[m] dot(f32[m,n] a, f32[m] x)"),
             Contains("input 'x' lacks the reduced dim 'n'"));
  CHECK_THAT(tensorComplaint("f32 dot(f32[n] x, bf16[n] y)"),
             Contains("have one type"));
  CHECK_THAT(tensorComplaint("i32 sum(i32[n] x)"), Contains("type 'i32'"));
}
