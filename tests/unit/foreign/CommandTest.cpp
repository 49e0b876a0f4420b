// CommandTest.cpp - the conversation with programs, polite and rude
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Command.h"
#include "tests/unit/evidence/Temporary.h"
#include "tools/evidence/TensorFile.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace bitpact::evidence;
using namespace bitpact::evidence::foreign;
using bitpact::algebra::Format;
using Catch::Contains;

namespace {

Tensor ones(std::vector<int64_t> shape) {
  Tensor tensor{Format::F32, std::move(shape), {}};
  float one = 1;
  for (int64_t i = 0; i < tensor.shape[0]; ++i) {
    auto *bytes = reinterpret_cast<const uint8_t *>(&one);
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + 4);
  }
  return tensor;
}

/// The output has the shape of the second input: a program that answers its
/// path computes something.
struct Fixture {
  const std::string declared = "f32[rows] dot(f32[rows,n] a, f32[n] x)";
  bitpact::tests::Temporary folder;

  Command command(const std::string &text, double timeout = 20) {
    return {std::make_shared<Conversation>(text, declared, timeout),
            parseTensorSignature(declared),
            {{"rows", 1}, {"n", 1}}};
  }

  std::string complaint(const std::string &text, double timeout = 20) {
    Tensor matrix = ones({1});
    matrix.shape = {1, 1};
    std::vector<Tensor> run{matrix, ones({1})};
    try {
      Command one = command(text, timeout);
      one.call({run, run});
    } catch (const UserError &error) {
      return error.text();
    }
    return "";
  }
};

} // namespace

TEST_CASE_METHOD(Fixture, "a program that answers", "[command]") {
  // The second path is x, f32[1].
  Command second = command("while read a x; do echo $x; done");
  Tensor matrix = ones({1});
  matrix.shape = {1, 1};
  auto outputs = second.call({{matrix, ones({1})}, {matrix, ones({1})}});
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[1] == ones({1}));
  CHECK(second.notes().empty());
}

TEST_CASE_METHOD(Fixture, "a program is told what it computes", "[command]") {
  Command one = command("echo \"$BITPACT_REVEAL\" >&2; while read a x; do echo "
                        "$x; done");
  Tensor matrix = ones({1});
  matrix.shape = {1, 1};
  one.call({{matrix, ones({1})}});
  REQUIRE(one.notes().size() == 1);
  CHECK(one.notes()[0] == "it said: f32[rows] dot(f32[rows,n] a, f32[n] x)");
}

TEST_CASE_METHOD(Fixture, "what a program does wrong", "[command]") {
  CHECK(complaint("while read a x; do echo $x; done") == "");
  CHECK_THAT(complaint("/none/program"),
             Contains("exited with status 127, the shell's word for a program "
                      "that is not found") &&
                 Contains("input a=f32[1,1] x=f32[1]"));
  std::string file = folder.write("plain", "echo\n");
  CHECK_THAT(complaint(file), Contains("not executable"));
  CHECK_THAT(complaint("read a x; echo $x; echo tired >&2; exit 5"),
             Contains("exited with status 5 after 1 answers") &&
                 Contains("it said:\ntired"));
  CHECK_THAT(complaint("kill -9 $$"), Contains("was ended by signal 9"));
  CHECK_THAT(complaint("while read a x; do echo $a; done"),
             Contains("answered f32[1,1], f32[1] is declared"));
  CHECK_THAT(complaint("while read a x; do echo error: no luck; done"),
             Contains("answered 'error: no luck'"));
  CHECK_THAT(complaint("echo welcome; while read a x; do echo $x; done"),
             Contains("'welcome'") && Contains("other text goes to standard"));
  CHECK_THAT(complaint("while read a x; do printf '%s\\n%s\\n' $x $x; done"),
             Contains("printed a line that is no answer"));
  CHECK_THAT(complaint("while read a x; do echo /none.npy; done"),
             Contains("/none.npy: error:"));
  CHECK_THAT(complaint("sleep 30", 0.2),
             Contains("did not answer within 0.2 s"));
}

TEST_CASE_METHOD(Fixture, "a program with a memory is found out", "[command]") {
  std::string zero = folder.file("zero.npy");
  Tensor other = ones({1});
  other.bytes[3] = 0;
  folder.write("zero.npy", npyBytes(other));
  Command one = command("read a x; echo $x; read a x; echo " + zero);
  Tensor matrix = ones({1});
  matrix.shape = {1, 1};
  CHECK_THROWS_WITH(one.requireDeterministic({{matrix, ones({1})}}),
                    Contains("is not deterministic") && Contains("element 0") &&
                        Contains("0x3F800000"));
}

TEST_CASE_METHOD(Fixture, "extents of the dims", "[command]") {
  TensorSignature sum = parseTensorSignature("f32[rows] sum(f32[rows,n] x)");
  auto cat = std::make_shared<Conversation>("cat", sum.text, 20);
  using Dims = std::map<std::string, int64_t>;
  CHECK_THROWS_WITH(Command(cat, sum, Dims{{"rows", 1}}),
                    Contains("the extent of 'n' is needed"));
  CHECK_THROWS_WITH(Command(cat, sum, Dims{{"rows", 1}, {"n", 2}, {"k", 2}}),
                    Contains("no dim 'k', but rows, n"));
  CHECK_THROWS_WITH(Command(cat, sum, Dims{{"rows", 0}, {"n", 2}}),
                    Contains("rows=0 is not in"));
}
