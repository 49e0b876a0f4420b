// PtxLintTest.cpp - each rule on PTX that breaks it
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Lint.h"
#include "codegen/NVPTX/Quotients.h"
#include "tests/unit/codegen/Module.h"
#include "llvm/ADT/StringExtras.h"

using namespace bitpact::codegen;

static std::string rulesOf(const std::string &ptx,
                           const LintExpectation &expected = {}) {
  std::vector<llvm::StringRef> rules;
  for (const LintFinding &finding : lintPtx(ptx, expected))
    rules.push_back(nameOf(finding.rule));
  return llvm::join(rules, " ");
}

TEST_CASE("PTX without anything forbidden has no finding") {
  for (const char *line :
       {"add.rn.f32 %f3, %f1, %f2;", "sub.rn.f64 %d3, %d1, %d2;",
        "div.rn.f32 %f3, %f1, %f2;", "sqrt.rn.f32 %f1, %f2;",
        "rcp.rn.f32 %f1, %f2;", "max.NaN.f32 %f1, %f2, %f3;",
        "max.f64 %d1, %d2, %d3;", "cvt.rn.bf16.f32 %h1, %f1;",
        "cvt.f32.f16 %f1, %h1;", "cvt.rn.f32.s64 %f1, %rd1;",
        "cvt.rzi.s32.f32 %r1, %f1;", "mad.lo.s32 %r1, %r2, %r3, %r4;",
        "add.s32 %r1, %r2, %r3;", "ld.global.v4.f32 {%f1, %f2}, [%rd1];",
        "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;",
        "setp.lt.f32 %p1, %f1, %f2;", "// ex2.approx.f32 in a comment",
        "atom.global.add.u32 %r1, [%rd1], 1;", "sub.s64 %rd1, %rd2, %rd3;"}) {
    INFO(line);
    CHECK(rulesOf(line) == "");
  }
}

TEST_CASE("each forbidden PTX instruction has its rule") {
  const std::pair<const char *, const char *> cases[] = {
      {"ex2.approx.f32 %f1, %f2;", "L3"},
      {"lg2.approx.f32 %f1, %f2;", "L3"},
      {"sin.approx.f32 %f1, %f2;", "L3"},
      {"cos.approx.f32 %f1, %f2;", "L3"},
      {"tanh.approx.f32 %f1, %f2;", "L3"},
      {"rsqrt.approx.f32 %f1, %f2;", "L3"},
      {"sqrt.approx.f32 %f1, %f2;", "L3 L5"},
      {"rcp.approx.f32 %f1, %f2;", "L3 L5"},
      {"div.full.f32 %f1, %f2, %f3;", "L3 L5"},
      {"max.f32 %f1, %f2, %f3;", "L3"},
      {"add.rn.ftz.f32 %f1, %f2, %f3;", "L4"},
      {"setp.lt.ftz.f32 %p1, %f1, %f2;", "L4"},
      {"mul.f32 %f1, %f2, %f3;", "L5"},
      {"add.rz.f32 %f1, %f2, %f3;", "L5"},
      {"add.rn.sat.f32 %f1, %f2, %f3;", "L5"},
      {"cvt.rz.bf16.f32 %h1, %f1;", "L5"},
      {"cvt.rz.f32.s32 %f1, %r1;", "L5"},
      {"cvt.rn.bf16x2.f32 %r1, %f1, %f2;", ""},
      {"cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2;", "L5"},
      {"fma.rn.f32 %f1, %f2, %f3, %f4;", "L6"},
      {"mad.rn.f32 %f1, %f2, %f3, %f4;", "L6"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1};", "L6"},
      {"red.global.add.f32 [%rd1], %f1;", "L7"},
      {"atom.global.add.f64 %d1, [%rd1], %d2;", "L7"},
      {".local .align 4 .b8 __local_depot0[16];", "L8"},
      {"st.local.u32 [%rd1], %r1;", "L8"},
      {".extern .func vprintf", "L10"},
      {"@!%p1 ex2.approx.ftz.f32 %f1, %f2;", "L3 L4"},
      {"$L__BB0_1: @%p1 lg2.approx.f32 %f1, %f2;", "L3"},
      {"{ .reg .f32 t; ex2.approx.f32 t, %f1; mov.f32 %f2, t; }", "L3"},
  };
  for (const auto &[line, rules] : cases) {
    INFO(line);
    CHECK(rulesOf(line) == rules);
  }
}

TEST_CASE("a finding has line, instruction and reason") {
  auto findings =
      lintPtx("add.rn.f32 %f1, %f2, %f3;\n\tex2.approx.f32 %f1, %f2;\n", {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].str() ==
        "L3 line 2: 'ex2.approx.f32 %f1, %f2': approximate");
}

TEST_CASE("what the contract has is allowed") {
  CHECK(rulesOf("fma.rn.f32 %f1, %f2, %f3, %f4;", {true}) == "");
}

namespace {

constexpr const char *kHopper = ".target sm_90a\n";
constexpr const char *kProducts =
    "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned."
    "m64n256k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 0; "
    "wgmma.commit_group.sync.aligned; }\n";

LintExpectation withAtom(const char *name) {
  LintExpectation expected;
  expected.atoms = {name};
  return expected;
}

} // namespace

TEST_CASE("a contract's atom is executed by its instruction and by no other") {
  LintExpectation bf16 = withAtom("dot.nv(16,25)");
  std::string hopper = kHopper;
  CHECK(rulesOf(hopper + kProducts, bf16) == "");
  CHECK(rulesOf(hopper + kProducts + "wgmma.wait_group.sync.aligned 0;\n",
                bf16) == "");
  // Without it, or with waits alone, sums come from somewhere else.
  CHECK(rulesOf(hopper, bf16) == "L11");
  CHECK(rulesOf(hopper + "wgmma.wait_group.sync.aligned 0;", bf16) == "L11");
  // Another format, another length of the step, another architecture.
  CHECK(rulesOf(hopper + kProducts, withAtom("dot.nv(16,25).f16")) ==
        "L6 L11");
  CHECK(rulesOf(hopper + "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                         "{%f1};",
                bf16) == "L6 L11");
  CHECK(rulesOf(hopper + "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                         "{%f1};",
                withAtom("dot.nv(8,25)")) == "");
  CHECK(rulesOf(hopper + "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%f1};",
                withAtom("dot.nv(16,25).f16")) == "");
  CHECK(rulesOf(std::string(".target sm_80\n") +
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                    "{%f1};",
                bf16) == "L6 L11");
  // On Ampere both lengths are steps of eight.
  for (const char *shape : {"m16n8k8", "m16n8k16"}) {
    std::string ampere = std::string(".target sm_80\nmma.sync.aligned.") +
                         shape + ".row.col.f32.bf16.bf16.f32 {%f1};";
    CHECK(rulesOf(ampere, withAtom("dot.nv(8,24)")) == "");
    CHECK(rulesOf(ampere, withAtom("dot.nv(8,24).f16")) == "L6 L11");
    CHECK(rulesOf(ampere, withAtom("dot.nv(8,25)")) == "L6 L11");
  }
  // Sums that are kept in f16 are rounded otherwise.
  CHECK(rulesOf(hopper + "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                         "{%f1};",
                withAtom("dot.nv(16,25).f16")) == "L6 L11");
  // One right instruction does not excuse a wrong one.
  CHECK(rulesOf(hopper + kProducts +
                    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                    "{%f1};",
                bf16) == "L6");
}

TEST_CASE("a reciprocal is approximate where quotients are corrected") {
  QuotientGroup group{kMostQuotients, false};
  std::string text = quotientsText(group, [](unsigned i) {
    return (llvm::Twine("%r") + llvm::Twine(i)).str();
  });
  OpCounts counts;
  CHECK(lintPtx("\t" + text, LintExpectation{}, &counts).empty());
  CHECK(counts[size_t(OpKind::Div)] == kMostQuotients);
  CHECK(counts[size_t(OpKind::Fma)] == 0);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    auto without = lines;
    without.erase(without.begin() + i);
    INFO("without " << lines[i].str());
    CHECK(llvm::StringRef(rulesOf(llvm::join(without, "\n"))).contains("L3"));
    auto altered = lines;
    std::string line = lines[i].str() + " neg.f32 q0, q0;";
    altered[i] = line;
    INFO("with " << line);
    CHECK(llvm::StringRef(rulesOf(llvm::join(altered, "\n"))).contains("L3"));
  }
}
