// AmdgpuLintTest.cpp - each rule on ISA text that breaks it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/Lint.h"
#include "tests/unit/codegen/Module.h"
#include "llvm/ADT/StringExtras.h"

using namespace bitpact::codegen;

namespace {

std::string rulesOf(const std::string &text,
                    const LintExpectation &expected = {},
                    OpCounts *counts = nullptr) {
  std::vector<llvm::StringRef> rules;
  for (const LintFinding &finding :
       lintGcn("f:\n" + text + "\ns_endpgm\n", expected, counts))
    rules.push_back(nameOf(finding.rule));
  return llvm::join(rules, " ");
}

/// As LLVM 22 emits them for gfx942.
const std::string kDivision = "v_div_scale_f32 v2, s[4:5], s3, s3, v1\n"
                              "v_rcp_f32_e32 v3, v2\n"
                              "v_div_scale_f32 v4, vcc, s2, v4, s2\n"
                              "v_fma_f32 v5, -v2, v3, 1.0\n"
                              "v_fmac_f32_e32 v3, v5, v3\n"
                              "v_mul_f32_e32 v5, v4, v3\n"
                              "v_fma_f32 v6, -v2, v5, v4\n"
                              "v_fmac_f32_e32 v5, v6, v3\n"
                              "v_fma_f32 v2, -v2, v5, v4\n"
                              "v_div_fmas_f32 v2, v2, v3, v5\n"
                              "v_div_fixup_f32 v1, v2, s3, v1\n";
const std::string kRoot = "v_mul_f32_e32 v1, s0, v1\n"
                          "v_sqrt_f32_e32 v1, v0\n"
                          "v_add_u32_e32 v3, -1, v1\n"
                          "v_fma_f32 v4, -v3, v1, v0\n"
                          "v_add_u32_e32 v4, 1, v1\n"
                          "v_cndmask_b32_e64 v3, v1, v3, s[0:1]\n"
                          "v_fma_f32 v1, -v4, v1, v0\n"
                          "v_mul_f32_e32 v3, 0x37800000, v1\n";

std::string without(std::string text, const std::string &line) {
  size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find('\n', at) + 1 - at);
}

} // namespace

TEST_CASE("ISA without anything forbidden has no finding") {
  for (const char *line :
       {"v_add_f32_e32 v1, v2, v3", "v_sub_f64 v[0:1], v[2:3], v[4:5]",
        "v_mul_f32_e64 v1, v2, |v3|", "v_cvt_f16_f32_e32 v0, v1",
        "v_cvt_f32_f64_e32 v1, v[2:3]", "v_ldexp_f32 v0, v1, s4",
        "v_max_f32_e32 v1, v1, v1", "v_cmp_lt_f32_e32 vcc, v1, v2",
        "v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]",
        "v_cndmask_b32_e32 v0, v1, v2, vcc", "ds_bpermute_b32 v0, v1, v2",
        "ds_read_b32 v0, v1", "global_load_dwordx4 v[0:3], v4, s[0:1]",
        "global_atomic_add v1, v2, s[0:1]",
        "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s0",
        "; v_exp_f32 v0, v1 in a comment", ".amdhsa_float_denorm_mode_32 3",
        "v_pk_add_f32 v[0:1], v[2:3], v[4:5]"}) {
    INFO(line);
    CHECK(rulesOf(line) == "");
  }
}

TEST_CASE("each forbidden ISA instruction has its rule") {
  const std::pair<const char *, const char *> cases[] = {
      {"v_exp_f32_e32 v0, v1", "L3"},
      {"v_log_f32_e32 v0, v1", "L3"},
      {"v_sin_f32_e32 v0, v1", "L3"},
      {"v_cos_f32_e32 v0, v1", "L3"},
      {"v_rcp_f32_e32 v0, v1", "L3"},
      {"v_rcp_iflag_f32_e32 v0, v1", "L3"},
      {"v_rsq_f32_e32 v0, v1", "L3"},
      {"v_rsq_f64_e32 v[0:1], v[2:3]", "L3"},
      {"v_sqrt_f32_e32 v0, v1", "L3"},
      {"v_sqrt_f64_e32 v[0:1], v[2:3]", "L3"},
      {"v_rcp_f16_e32 v0, v1", "L3"},
      {"v_mul_legacy_f32 v0, v1, v2", "L3"},
      {"v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[1,1,0]", "L3"},
      {"v_fma_mixlo_f16 v3, v3, v8, 0 op_sel_hi:[0,1,0]", "L3"},
      {"v_med3_f32 v0, v1, v2, v3", "L3"},
      {"v_max_f32_e32 v0, v1, v2", "L3"},
      {"v_div_fmas_f32 v2, v2, v3, v5", "L3"},
      {"v_mad_f32 v0, v1, v2, v3", "L4"},
      {"v_mac_f32_e32 v0, v1, v2", "L4"},
      {"v_mad_mix_f32 v0, v1, v2, v3", "L4"},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", "L4"},
      {"s_setreg_b32 hwreg(1, 0, 4), s0", "L4"},
      {"s_denorm_mode 0", "L4"},
      {".amdhsa_float_denorm_mode_32 0", "L4"},
      {".amdhsa_float_round_mode_32 3", "L5"},
      {"v_cvt_pkrtz_f16_f32 v0, v1, v2", "L5"},
      {"v_cvt_pk_bf16_f32 v0, v1, v2", "L5"},
      {"v_cvt_sr_fp8_f32 v0, v1, v2", "L5"},
      {"v_add_f32_e64 v0, v1, v2 clamp", "L5"},
      {"v_mul_f32_e64 v0, v1, v2 mul:2", "L5"},
      {"v_fma_f32 v0, v1, v2, v3", "L6"},
      {"v_fmac_f32_e32 v0, v1, v2", "L6"},
      {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "L6"},
      {"v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "L6"},
      {"v_dot2_f32_f16 v0, v1, v2, v3", "L6"},
      {"global_atomic_add_f32 v0, v1, s[0:1]", "L7"},
      {"global_atomic_pk_add_bf16 v0, v1, s[0:1]", "L7"},
      {"flat_atomic_max_f64 v[0:1], v[2:3]", "L7"},
      {"ds_add_f32 v0, v1", "L7"},
      {"ds_add_rtn_f64 v[0:1], v2, v[4:5]", "L7"},
      {"scratch_store_dword off, v0, s0", "L8"},
      {"buffer_load_dword v0, off, s[0:3], 0 offset:4", "L8"},
      {"s_swappc_b64 s[30:31], s[4:5]", "L10"},
  };
  for (const auto &[line, rules] : cases) {
    INFO(line);
    CHECK(rulesOf(line) == rules);
  }
}

TEST_CASE("a division is its whole expansion and nothing less") {
  OpCounts counts;
  CHECK(rulesOf(kDivision, {}, &counts) == "");
  CHECK(counts[size_t(OpKind::Div)] == 1);
  CHECK(counts[size_t(OpKind::Fma)] == 0);
  CHECK(counts[size_t(OpKind::Mul)] == 0);
  // Without any one of its parts the approximation stands bare.
  for (const char *part :
       {"v_div_scale_f32 v2,", "v_fma_f32 v5,", "v_fmac_f32_e32 v3,",
        "v_fma_f32 v6,", "v_fmac_f32_e32 v5,", "v_mul_f32_e32 v5,",
        "v_div_fixup_f32"}) {
    INFO(part);
    CHECK(llvm::StringRef(rulesOf(without(kDivision, part))).contains("L3"));
  }
  // So it does where something else uses it, too.
  CHECK(llvm::StringRef(rulesOf(kDivision + "v_mov_b32_e32 v9, v1\n")).empty());
  std::string leak = kDivision;
  leak.insert(leak.find("v_fma_f32 v5"), "v_add_f32_e32 v9, v3, v3\n");
  CHECK(llvm::StringRef(rulesOf(leak)).contains("L3"));
  // An fma beside it is still counted.
  CHECK(rulesOf(kDivision + "v_fma_f32 v7, v8, v9, v10\n") == "L6");
}

TEST_CASE("a square root is its correction by both neighbours") {
  OpCounts counts;
  CHECK(rulesOf(kRoot, {}, &counts) == "");
  CHECK(counts[size_t(OpKind::Sqrt)] == 1);
  CHECK(counts[size_t(OpKind::Fma)] == 0);
  CHECK(counts[size_t(OpKind::Mul)] == 0);
  for (const char *part : {"v_add_u32_e32 v3", "v_add_u32_e32 v4",
                           "v_fma_f32 v4", "v_fma_f32 v1"}) {
    INFO(part);
    CHECK(llvm::StringRef(rulesOf(without(kRoot, part))).contains("L3"));
  }
}

TEST_CASE("what the contract has is allowed on AMD GPUs") {
  CHECK(rulesOf("v_fma_f32 v0, v1, v2, v3", {true}) == "");
  LintExpectation local;
  local.allowLocal = true;
  CHECK(rulesOf("scratch_load_dword v0, off, s0", local) == "");
  CHECK(rulesOf("v_max_f32_e32 v0, v1, v2\nv_cmp_u_f32_e32 vcc, v1, v2") == "");
}

namespace {

/// Code for that architecture with one matrix instruction.
std::string matrixCode(const char *arch, const char *instruction,
                       const char *modifiers = "") {
  return std::string(".amdgcn_target \"amdgcn-amd-amdhsa--") + arch +
         "\"\n" + instruction + " a[0:15], v[0:1], v[2:3], a[0:15]" + modifiers;
}

} // namespace

TEST_CASE("matrix instructions of AMD GPUs are steps of what the contract has") {
  LintExpectation cdna3, half, chain;
  cdna3.atoms = {"dot.cdna3"};
  half.atoms = {"dot.cdna3.f16"};
  chain.allowFma = chain.chainsFma = true;
  chain.some(OpKind::Fma);
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x8_bf16"), cdna3) == "");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_16x16x16_bf16"), cdna3) ==
        "");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x8_f16"), half) == "");
  // Another format, another depth, another architecture.
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x8_f16"), cdna3) ==
        "L6 L11");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x4_2b_bf16"), cdna3) ==
        "L6 L11");
  CHECK(rulesOf(matrixCode("gfx90a", "v_mfma_f32_32x32x8bf16_1k"), cdna3) ==
        "L6 L11");
  CHECK(rulesOf(matrixCode("gfx950", "v_mfma_f32_32x32x8_bf16"), cdna3) ==
        "L6 L11");
  CHECK(rulesOf("v_mul_f32_e32 v0, v1, v2", cdna3) == "L11");
  // A chain of fma is no step of an atom, and an atom is none of a chain.
  OpCounts counts;
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x2_f32"), chain,
                &counts) == "");
  CHECK(counts[size_t(OpKind::Fma)] == 2);
  CHECK(rulesOf(matrixCode("gfx90a", "v_mfma_f32_32x32x2f32"), chain) == "");
  CHECK(rulesOf(matrixCode("gfx90a", "v_mfma_f32_16x16x4f32"), chain,
                &counts) == "");
  CHECK(counts[size_t(OpKind::Fma)] == 4);
  CHECK(rulesOf(matrixCode("gfx950", "v_mfma_f32_32x32x2_f32"), chain) ==
        "L6 L11");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x4_xf32"), chain) ==
        "L6 L11");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x8_bf16"), chain) ==
        "L6 L11");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x2_f32"), cdna3) ==
        "L6 L11");
  // fma of another node do not make a chain of this one.
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x2_f32"), {true}) ==
        "L6");
  CHECK(rulesOf(matrixCode("gfx942", "v_mfma_f32_32x32x2_f32", " cbsz:1"),
                chain) == "L6");
}

TEST_CASE("the guess of an integer quotient is no approximation") {
  const std::string guess = "v_cvt_f32_u32_e32 v0, v1\n"
                            "v_rcp_iflag_f32_e32 v0, v0\n"
                            "v_mul_f32_e32 v0, 0x4f7ffffe, v0\n"
                            "v_cvt_u32_f32_e32 v0, v0";
  LintExpectation none;
  none.none(OpKind::Mul);
  CHECK(rulesOf(guess, none) == "");
  for (const char *part : {"v_cvt_f32_u32", "v_mul_f32", "v_cvt_u32_f32"}) {
    INFO(part);
    CHECK(llvm::StringRef(rulesOf(without(guess, part))).contains("L3"));
  }
  // Its float goes nowhere else.
  CHECK(rulesOf("v_cvt_f32_u32_e32 v0, v1\nv_rcp_iflag_f32_e32 v0, v0\n"
                "v_add_f32_e32 v3, v0, v2\nv_mul_f32_e32 v0, 0x4f7ffffe, v0\n"
                "v_cvt_u32_f32_e32 v0, v0") == "L3");
}

TEST_CASE("counts out of range, and text that is no kernel") {
  LintExpectation expected;
  expected.some(OpKind::Div);
  CHECK(rulesOf("v_add_f32_e32 v1, v2, v3", expected) == "L11");
  auto findings = lintGcn("nothing\n", {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == LintRule::L12);
}

TEST_CASE("a finding in ISA text has line, instruction and reason") {
  auto findings = lintGcn("s_endpgm\n\tv_exp_f32_e32 v0, v1 ; e\n", {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].str() ==
        "L3 line 2: 'v_exp_f32_e32 v0, v1': not one IEEE operation");
}
