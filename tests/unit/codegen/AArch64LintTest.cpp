// AArch64LintTest.cpp - objects for AArch64, and each rule on code that breaks
// it. Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Lint.h"
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

static constexpr const char *kSpec = "cpu:aarch64";

/// A shared object whose one function holds these instruction words.
static std::vector<LintFinding>
lintAssembly(const std::string &assembly,
             const LintExpectation &expected = {}) {
  TestModule test("llvm.func @f() {\n llvm.inline_asm has_side_effects \"" +
                  assembly + "\", \"\" : () -> ()\n llvm.return\n}");
  auto code = test.compile(kSpec);
  INFO(test.said);
  REQUIRE(succeeded(code));
  return lintAArch64(code->object, expected);
}

TEST_CASE("each forbidden AArch64 instruction has its rule") {
  const struct {
    const char *assembly;
    LintRule rule;
    const char *instruction;
  } cases[] = {
      {"frecpe v0.4s, v1.4s", LintRule::L3, "frecpe"},
      {"frecps v0.4s, v1.4s, v2.4s", LintRule::L3, "frecps"},
      {"frsqrte s0, s1", LintRule::L3, "frsqrte"},
      {"frsqrts d0, d1, d2", LintRule::L3, "frsqrts"},
      {"fmaxnm v0.4s, v1.4s, v2.4s", LintRule::L3, "fmaxnm"},
      {"fminnmv s0, v1.4s", LintRule::L3, "fminnmv"},
      {"fmulx s0, s1, s2", LintRule::L3, "fmulx"},
      {"msr fpcr, x0", LintRule::L4, "msr"},
      // bfcvt h0, s1
      {".inst 0x1e634020", LintRule::L4, "bfcvt"},
      // bfcvtn v0.4h, v1.4s
      {".inst 0x0ea16820", LintRule::L4, "bfcvtn"},
      // bfdot v0.4s, v1.8h, v2.8h
      {".inst 0x6e42fc20", LintRule::L4, "bfdot"},
      {"fcvtxn v0.2s, v1.2d", LintRule::L5, "fcvtxn"},
      {"fmla v0.4s, v1.4s, v2.4s", LintRule::L6, "fmla"},
      {"fmadd s0, s1, s2, s3", LintRule::L6, "fmadd"},
      {"fnmsub d0, d1, d2, d3", LintRule::L6, "fnmsub"},
      // fadd v0.8h, v1.8h, v2.8h
      {".inst 0x4e421420", LintRule::L9, "fadd"},
      // fadd z0.s, z1.s, z2.s
      {".inst 0x65820020", LintRule::L9, "z0.s"},
      {"blr x0", LintRule::L10, "blr"},
      {"bl .+4096", LintRule::L10, "bl"},
      {"b .+8192", LintRule::L10, "b"},
      // Unallocated.
      {".inst 0x00ffffff", LintRule::L12, "FFFFFF00"},
  };
  for (const auto &test : cases) {
    auto findings = lintAssembly(test.assembly);
    INFO(test.assembly << " gives " << listOf(findings));
    CHECK(found(findings, test.rule, test.instruction));
    CHECK(findings.size() == 1);
  }
}

TEST_CASE("AArch64 code without anything forbidden has no finding") {
  for (const char *assembly :
       {"fadd v0.4s, v1.4s, v2.4s", "fdiv s0, s1, s2", "fsqrt v0.2d, v1.2d",
        "fcvt h0, s1", "fcvtn v0.4h, v1.4s", "fcvtl v0.4s, v1.4h",
        "fmax v0.4s, v1.4s, v2.4s", "fnmul s0, s1, s2", "bfi w0, w1, #3, #4",
        "mrs x0, fpcr", "prfm pldl1keep, [x0]", "b .+4"}) {
    auto findings = lintAssembly(assembly);
    INFO(assembly << " gives " << listOf(findings));
    CHECK(findings.empty());
  }
}

TEST_CASE("AArch64 operations are counted, fused ones where allowed") {
  OpCounts counts;
  TestModule test(normRow());
  auto code = test.compile(kSpec);
  INFO(test.said);
  REQUIRE(succeeded(code));
  auto findings = lintAArch64(code->object, LintExpectation{true}, &counts);
  INFO(listOf(findings));
  CHECK(findings.empty());
  CHECK(counts[size_t(OpKind::Div)] == 2);
  CHECK(counts[size_t(OpKind::Sqrt)] == 1);
  CHECK(counts[size_t(OpKind::Fma)] >= 1);
  CHECK(counts[size_t(OpKind::Add)] == 0);
  CHECK(counts[size_t(OpKind::Max)] == 0);
}

TEST_CASE("a contracted or uncontracted fma is caught on AArch64") {
  const Target *target = builtinTargets().find(kSpec);
  TestModule separate(unary3(kMulAdd)), fused(unary3(kFma));
  auto rounded = separate.compile(kSpec), exact = fused.compile(kSpec);
  REQUIRE(succeeded(rounded));
  REQUIRE(succeeded(exact));
  LintExpectation none = LintExpectation{}.none(OpKind::Fma);
  LintExpectation some = LintExpectation{true}.some(OpKind::Fma);
  CHECK(target->lint(*rounded, none).empty());
  CHECK(target->lint(*exact, some).empty());
  CHECK(found(target->lint(*exact, none), LintRule::L6, "fmadd"));
  CHECK(listOf(target->lint(*rounded, some)) ==
        "L11 object: the contract has at least 1 fma, the code has 0\n");
}

TEST_CASE("objects for AArch64 are the same bytes each time") {
  TestModule first(normRow()), second(normRow());
  auto a = first.compile(kSpec), b = second.compile(kSpec);
  REQUIRE(succeeded(a));
  REQUIRE(succeeded(b));
  CHECK(a->object == b->object);
  CHECK(a->assembly == b->assembly);
  // e_machine is EM_AARCH64.
  REQUIRE(a->object.size() > 20);
  CHECK(a->object[18] == 183);
  CHECK(a->object[19] == 0);
}

TEST_CASE("a call of a library is refused for AArch64") {
  TestModule test(unary3("%r = llvm.frem %a, %b : f32"));
  CHECK(failed(test.compile(kSpec)));
  CHECK(test.said.find("L10 object: undefined symbol 'fmodf'") !=
        std::string::npos);
}
