// X86LintTest.cpp - each rule on machine code that breaks it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Lint.h"
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

/// A shared object whose one function holds this assembly.
static std::vector<LintFinding>
lintAssembly(const std::string &assembly,
             const LintExpectation &expected = {}) {
  TestModule test("llvm.func @f() {\n llvm.inline_asm has_side_effects \"" +
                  assembly + "\", \"\" : () -> ()\n llvm.return\n}");
  auto code = test.compile("cpu:x86-64-v4");
  INFO(test.said);
  REQUIRE(succeeded(code));
  return lintX86(code->object, expected);
}

TEST_CASE("each forbidden x86 instruction has its rule") {
  const struct {
    const char *assembly;
    LintRule rule;
    const char *instruction;
  } cases[] = {
      {"rsqrtps %xmm0, %xmm1", LintRule::L3, "rsqrtps %xmm0, %xmm1"},
      {"vrcpss %xmm0, %xmm1, %xmm2", LintRule::L3, "vrcpss"},
      {"vrcp14ps %zmm0, %zmm1", LintRule::L3, "vrcp14ps"},
      {"vrsqrt14pd %zmm0, %zmm1", LintRule::L3, "vrsqrt14pd"},
      // vcvtneps2bf16 %zmm0, %ymm0
      {".byte 0x62,0xf2,0x7e,0x48,0x72,0xc0", LintRule::L4, "vcvtneps2bf16"},
      // vdpbf16ps %zmm0, %zmm1, %zmm2
      {".byte 0x62,0xf2,0x76,0x48,0x52,0xd0", LintRule::L4, "vdpbf16ps"},
      {"ldmxcsr -4(%rsp)", LintRule::L4, "ldmxcsr"},
      {"vldmxcsr -4(%rsp)", LintRule::L4, "vldmxcsr"},
      // vaddps {rz-sae}, %zmm0, %zmm1, %zmm2
      {".byte 0x62,0xf1,0x74,0x78,0x58,0xd0", LintRule::L5, "{rz-sae}"},
      {"vcvtps2ph $$3, %ymm0, %xmm1", LintRule::L5, "vcvtps2ph"},
      {"vfmadd231ps %ymm0, %ymm1, %ymm2", LintRule::L6, "vfmadd231ps"},
      {"vfnmsub132sd %xmm0, %xmm1, %xmm2", LintRule::L6, "vfnmsub132sd"},
      {"fld1", LintRule::L9, "fld1"},
      {"fstp %st(0)", LintRule::L9, "fstp"},
      {"emms", LintRule::L9, "emms"},
      {"call *%rax", LintRule::L10, "*%rax"},
      {"call .+4096", LintRule::L10, "call"},
  };
  for (const auto &test : cases) {
    auto findings = lintAssembly(test.assembly);
    INFO(test.assembly << " gives " << listOf(findings));
    CHECK(found(findings, test.rule, test.instruction));
    CHECK(findings.size() == 1);
  }
}

TEST_CASE("x86 code without anything forbidden has no finding") {
  for (const char *assembly :
       {"vaddps %zmm0, %zmm1, %zmm2", "vdivss %xmm0, %xmm1, %xmm2",
        "vsqrtpd %ymm0, %ymm1", "vcvtps2ph $$0, %ymm0, %xmm1",
        "vcvtps2ph $$4, %ymm0, %xmm1", "vpaddd %ymm0, %ymm1, %ymm2",
        "vmaxps %ymm0, %ymm1, %ymm2", "jmp .+2", "stmxcsr -4(%rsp)"}) {
    auto findings = lintAssembly(assembly);
    INFO(assembly << " gives " << listOf(findings));
    CHECK(findings.empty());
  }
}

TEST_CASE("a finding says where") {
  auto findings = lintAssembly("rsqrtps %xmm0, %xmm1");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].str() ==
        "L3 .text+0x0: 'rsqrtps %xmm0, %xmm1': approximate");
}

TEST_CASE("a contracted or uncontracted fma is caught on x86") {
  for (const char *spec : {"cpu:x86-64-v3", "cpu:x86-64-v4"}) {
    const Target *target = builtinTargets().find(spec);
    TestModule separate(unary3(kMulAdd)), fused(unary3(kFma));
    auto rounded = separate.compile(spec), exact = fused.compile(spec);
    REQUIRE(succeeded(rounded));
    REQUIRE(succeeded(exact));
    LintExpectation none = LintExpectation{}.none(OpKind::Fma);
    LintExpectation some = LintExpectation{true}.some(OpKind::Fma);
    CHECK(target->lint(*rounded, none).empty());
    CHECK(target->lint(*exact, some).empty());
    CHECK(found(target->lint(*exact, none), LintRule::L6, "vfmadd"));
    CHECK(listOf(target->lint(*rounded, some)) ==
          "L11 object: the contract has at least 1 fma, the code has 0\n");
  }
}

TEST_CASE("what cannot be read is a finding, not silence") {
  const uint8_t junk[] = {1, 2, 3, 4};
  auto findings = lintX86(junk, {});
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].rule == LintRule::L12);
}

TEST_CASE("findings are reported as compiler bugs") {
  TestModule test("llvm.func @f() { llvm.return }");
  auto findings = lintAssembly("rcpps %xmm0, %xmm1");
  CHECK(
      failed(reportFindings(test.module->getLoc(), "cpu:x86-64-v3", findings)));
  CHECK(test.said == "compiler bug: cpu:x86-64-v3: L3 .text+0x0: 'rcpps "
                     "%xmm0, %xmm1': approximate\n");
}
