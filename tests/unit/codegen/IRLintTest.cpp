// IRLintTest.cpp - what may not reach LLVM, by rule
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

/// Everything the compiler says about a module that it must refuse.
static std::string refused(const std::string &text) {
  TestModule test(text);
  CHECK(failed(test.compile("cpu:x86-64-v3")));
  CHECK(isCompilerBug(test.said));
  return test.said;
}

static bool says(const std::string &all, const std::string &part) {
  INFO(all);
  bool there = all.find(part) != std::string::npos;
  CHECK(there);
  return there;
}

TEST_CASE("L1 names each fast-math flag") {
  for (std::string flag :
       {"reassoc", "arcp", "contract", "afn", "nnan", "ninf", "nsz"})
    says(refused(unary3("%r = llvm.fadd %a, %b {fastmathFlags = "
                        "#llvm.fastmath<" +
                        flag + ">} : f32")),
         "fadd " + flag + " float %4, %6': fast-math flags (" + flag + ")");
}

TEST_CASE("L1 finds an approximate square root before it is one") {
  says(refused(unary3("%r = llvm.intr.sqrt(%a) {fastmathFlags = "
                      "#llvm.fastmath<afn>} : (f32) -> f32")),
       "fast-math flags (afn)");
}

TEST_CASE("L1 finds attributes that relax floating point") {
  says(refused(unary3(kMulAdd, "attributes {passthrough = [[\"denormal-fp-"
                               "math\", \"preserve-sign,preserve-sign\"]]}")),
       "L1 @f: 'denormal-fp-math=preserve-sign,preserve-sign'");
  says(refused(unary3(kMulAdd, "attributes {passthrough = [[\"no-nans-fp-"
                               "math\", \"true\"]]}")),
       "L1 @f: 'no-nans-fp-math'");
}

TEST_CASE("L2 names intrinsics without defined bits") {
  says(refused(unary3("%r = llvm.intr.fmuladd(%a, %b, %c) : "
                      "(f32, f32, f32) -> f32")),
       "llvm.fmuladd.f32 is not one IEEE operation");
  for (std::string name : {"exp2", "log2", "sin", "cos", "exp"})
    says(refused(unary3("%r = llvm.intr." + name + "(%a) : (f32) -> f32")),
         "llvm." + name + ".f32 is not one IEEE operation");
  says(refused(unary3("%r = llvm.intr.maxnum(%a, %b) : (f32, f32) -> f32")),
       "llvm.maxnum.f32 is not one IEEE operation");
}

TEST_CASE("L7 finds floating-point atomics") {
  says(refused(unary3("%r = llvm.atomicrmw fadd %y, %a monotonic : "
                      "!llvm.ptr, f32")),
       "L7 @f:");
}

TEST_CASE("one IEEE operation each is let through") {
  TestModule test(unary3(R"(
    %m = llvm.intr.maximum(%a, %b) : (f32, f32) -> f32
    %n = llvm.intr.minimum(%m, %c) : (f32, f32) -> f32
    %s = llvm.intr.sqrt(%n) : (f32) -> f32
    %d = llvm.fdiv %s, %b : f32
    %r = llvm.intr.fma(%d, %a, %b) : (f32, f32, f32) -> f32)"));
  auto code = test.compile("cpu:x86-64-v3");
  INFO(test.said);
  CHECK(succeeded(code));
}
