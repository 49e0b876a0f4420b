// AmdgpuObjectTest.cpp - ISA and code objects of gfx90a, gfx942 and gfx950
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/AMDGPU/Lint.h"
#include "codegen/AMDGPU/Metadata.h"
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

namespace {

constexpr const char *kArchs[] = {"gfx90a", "gfx942", "gfx950"};
const char *const kHipKernel =
    "attributes {rocdl.kernel, rocdl.flat_work_group_size = \"64,64\"}";

bool has(llvm::StringRef text, llvm::StringRef part) {
  return text.contains(part);
}

CompiledCode compiled(const std::string &text, const char *arch) {
  TestModule test(text);
  auto code = test.compile((std::string("hip:") + arch).c_str());
  INFO(test.said);
  REQUIRE(succeeded(code));
  return *code;
}

OpCounts countsOf(const CompiledCode &code, const LintExpectation &expected) {
  OpCounts counts;
  auto findings = lintGcn(code.assembly, expected, &counts);
  INFO(listOf(findings) << code.assembly);
  CHECK(findings.empty());
  return counts;
}

unsigned of(const OpCounts &counts, OpKind kind) {
  return counts[size_t(kind)];
}

} // namespace

TEST_CASE("a product and a sum stay two operations on AMD GPUs") {
  for (const char *arch : kArchs) {
    CompiledCode code = compiled(unary3(kMulAdd, kHipKernel), arch);
    OpCounts counts = countsOf(code, {});
    CHECK(of(counts, OpKind::Mul) == 1);
    CHECK(of(counts, OpKind::Add) == 1);
    CHECK(of(counts, OpKind::Fma) == 0);
    OpCounts fused = countsOf(compiled(unary3(kFma, kHipKernel), arch), {true});
    CHECK(of(fused, OpKind::Fma) == 1);
    CHECK(of(fused, OpKind::Mul) == 0);
  }
}

TEST_CASE("a product rounded to f16 has two roundings, and keeps -0") {
  const std::string body = "%h = llvm.fptrunc %b : f32 to f16\n"
                           "%w = llvm.fpext %h : f16 to f32\n"
                           "%m = llvm.fmul %a, %w : f32\n"
                           "%n = llvm.fptrunc %m : f32 to f16\n"
                           "%r = llvm.fpext %n : f16 to f32";
  for (const char *arch : kArchs) {
    CompiledCode code = compiled(unary3(body, kHipKernel), arch);
    OpCounts counts = countsOf(code, {true});
    CHECK(of(counts, OpKind::Mul) == 1);
    CHECK(of(counts, OpKind::Fma) == 0);
    CHECK(has(code.assembly, "v_cvt_f16_f32"));
  }
}

TEST_CASE("division and square root are expansions that count as one") {
  const std::string f64 = "%s = llvm.intr.sqrt(%b) : (f64) -> f64\n"
                          "%r = llvm.fdiv %a, %s : f64";
  for (const char *arch : kArchs)
    for (bool wide : {false, true}) {
      CompiledCode code = compiled(wide ? unary3(f64, kHipKernel, "f64")
                                        : unary3(kDivSqrt, kHipKernel),
                                   arch);
      // No fma is allowed: those inside belong to the two.
      OpCounts counts = countsOf(code, {});
      CHECK(of(counts, OpKind::Div) == 1);
      CHECK(of(counts, OpKind::Sqrt) == 1);
      CHECK(of(counts, OpKind::Fma) == 0);
      CHECK(of(counts, OpKind::Mul) == 0);
      CHECK(of(counts, OpKind::Add) == 0);
      std::string width = wide ? "f64" : "f32";
      for (const char *part :
           {"v_div_scale_", "v_rcp_", "v_div_fmas_", "v_div_fixup_"})
        CHECK(has(code.assembly, part + width));
      CHECK(has(code.assembly, wide ? "v_rsq_f64" : "v_sqrt_f32"));
    }
}

TEST_CASE("one divisor, two divisions, and a maximum that keeps NaN") {
  const std::string body =
      "%d = llvm.fdiv %a, %c : f32\n%e = llvm.fdiv %b, %c : f32\n"
      "%r = llvm.intr.maximum(%d, %e) : (f32, f32) -> f32";
  for (const char *arch : kArchs) {
    OpCounts counts = countsOf(compiled(unary3(body, kHipKernel), arch), {});
    CHECK(of(counts, OpKind::Div) == 2);
    CHECK(of(counts, OpKind::Max) == 1);
  }
}

TEST_CASE("a norm links for each target, with IEEE subnormals in its mode") {
  for (const char *arch : kArchs) {
    CompiledCode code = compiled(normRow(kHipKernel), arch);
    OpCounts counts = countsOf(code, {true});
    CHECK(of(counts, OpKind::Fma) >= 1);
    CHECK(of(counts, OpKind::Div) == 2);
    CHECK(of(counts, OpKind::Sqrt) == 1);
    CHECK(of(counts, OpKind::Max) == 0);
    CHECK(has(code.assembly, ".amdhsa_float_denorm_mode_32 3"));
    CHECK(has(code.assembly, ".amdhsa_float_denorm_mode_16_64 3"));
    CHECK(has(code.assembly, ".amdhsa_float_round_mode_32 0"));
    CHECK(code.objectSuffix == "hsaco");
    auto metadata = readHsaMetadata(code.object);
    REQUIRE(bool(metadata));
    CHECK(metadata->target == std::string("amdgcn-amd-amdhsa--") + arch);
    CHECK(metadata->codeObject == 5);
    REQUIRE(metadata->kernels.size() == 1);
    const HsaKernel &kernel = metadata->kernels[0];
    CHECK(kernel.name == "f");
    CHECK(kernel.wave == 64);
    CHECK(kernel.threads == 64);
    CHECK(kernel.vgprs > 0);
    CHECK(kernel.sgprs > 0);
    CHECK(kernel.scratch == 0);
    CHECK(code.resources.registers == kernel.vgprs);
    CHECK(code.resources.spills == 0);
  }
}

TEST_CASE("code objects are the same bytes each time, and unlike others") {
  CompiledCode first = compiled(normRow(kHipKernel), "gfx942"),
               second = compiled(normRow(kHipKernel), "gfx942"),
               other = compiled(normRow(kHipKernel), "gfx90a");
  CHECK(first.object == second.object);
  CHECK(first.assembly == second.assembly);
  CHECK(first.object != other.object);
}

TEST_CASE("an AMD module without a kernel, or with a call out, is a bug") {
  TestModule plain(unary3(kFma));
  CHECK(failed(plain.compile("hip:gfx942")));
  CHECK(has(plain.said,
            "compiler bug: gfx942: no function carries rocdl.kernel"));
  TestModule call("llvm.func @exp(f32) -> f32\n" +
                  unary3("%r = llvm.call @exp(%a) : (f32) -> f32", kHipKernel));
  CHECK(failed(call.compile("hip:gfx942")));
  CHECK(has(call.said, "undefined symbol 'exp'"));
}

TEST_CASE("bytes that are no code object have no metadata") {
  std::vector<uint8_t> bytes(64, 7);
  auto metadata = readHsaMetadata(bytes);
  CHECK_FALSE(bool(metadata));
  llvm::consumeError(metadata.takeError());
}
