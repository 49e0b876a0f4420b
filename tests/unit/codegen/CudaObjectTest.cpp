// CudaObjectTest.cpp - PTX, cubins and what ptxas says
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Lint.h"
#include "codegen/NVPTX/ObjectCode.h"
#include "codegen/NVPTX/Ptxas.h"
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

static const char *const kArchs[] = {"sm_80", "sm_90a", "sm_100a"};

static bool havePtxas() {
  auto path = findPtxas({});
  if (path)
    return true;
  WARN("skipped: " << llvm::toString(path.takeError()));
  return false;
}

static std::string ptxOf(const std::string &text, const char *arch) {
  TestModule test(text);
  auto ptx = emitPtx(*test.module, arch);
  INFO(test.said);
  REQUIRE(succeeded(ptx));
  return *ptx;
}

static bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("PTX states every rounding") {
  for (const char *arch : kArchs) {
    std::string separate = ptxOf(unary3(kMulAdd, kKernel), arch);
    INFO(separate);
    CHECK(has(separate, ".visible .entry f("));
    CHECK(has(separate, std::string(".target ") + arch));
    CHECK(has(separate, "mul.rn.f32"));
    CHECK(has(separate, "add.rn.f32"));
    CHECK_FALSE(has(separate, "fma"));
    std::string fused = ptxOf(unary3(kFma, kKernel), arch);
    CHECK(has(fused, "fma.rn.f32"));
    CHECK_FALSE(has(fused, "mul."));
    std::string roots = ptxOf(unary3(kDivSqrt, kKernel), arch);
    CHECK(has(roots, "sqrt.rn.f32"));
    CHECK(has(roots, "div.rn.f32"));
  }
}

TEST_CASE("PTX of a normalised row passes its lint and counts") {
  for (const char *arch : kArchs) {
    std::string ptx = ptxOf(normRow(kKernel), arch);
    OpCounts counts;
    auto findings = lintPtx(ptx,
                            LintExpectation{true}
                                .some(OpKind::Fma)
                                .some(OpKind::Sqrt)
                                .some(OpKind::Div)
                                .none(OpKind::Add),
                            &counts);
    INFO(listOf(findings) << ptx);
    CHECK(findings.empty());
    CHECK(counts[size_t(OpKind::Sqrt)] == 1);
  }
}

TEST_CASE("a contracted fma and a missing one are caught by name") {
  std::string fused = ptxOf(unary3(kFma, kKernel), "sm_90a");
  auto findings = lintPtx(fused, LintExpectation{}.none(OpKind::Fma));
  CHECK(found(findings, LintRule::L6, "fma.rn.f32"));
  CHECK(listOf(findings).find("L11 object: the contract has at most 0 fma, "
                              "the code has 1") != std::string::npos);
  std::string separate = ptxOf(unary3(kMulAdd, kKernel), "sm_90a");
  findings = lintPtx(separate, LintExpectation{true}.some(OpKind::Fma));
  CHECK(listOf(findings) == "L11 object: the contract has at least 1 fma, the "
                            "code has 0\n");
}

TEST_CASE("f64 maximum and sums pass the lint") {
  std::string ptx =
      ptxOf(unary3("%m = llvm.intr.maximum(%a, %b) : (f64, f64) -> f64\n"
                   "%r = llvm.fadd %m, %c : f64",
                   kKernel, "f64"),
            "sm_80");
  auto findings = lintPtx(ptx, {});
  INFO(listOf(findings) << ptx);
  CHECK(findings.empty());
}

TEST_CASE("a module without a kernel is a compiler bug") {
  TestModule test(unary3(kFma));
  CHECK(failed(emitPtx(*test.module, "sm_90a")));
  CHECK(
      has(test.said, "compiler bug: sm_90a: no function carries nvvm.kernel"));
}

TEST_CASE("cubins are the same bytes each time") {
  if (!havePtxas())
    return;
  for (const char *arch : kArchs) {
    std::string spec = std::string("cuda:") + arch;
    TestModule first(normRow(kKernel)), second(normRow(kKernel));
    auto a = first.compile(spec.c_str()), b = second.compile(spec.c_str());
    INFO(first.said);
    REQUIRE(succeeded(a));
    REQUIRE(succeeded(b));
    CHECK(a->object == b->object);
    CHECK(a->assembly == b->assembly);
    REQUIRE(a->object.size() > 4);
    CHECK(std::string(a->object.begin(), a->object.begin() + 4) == "\177ELF");
    CHECK(a->resources.registers > 0);
    CHECK(a->resources.spills == 0);
    CHECK(a->assemblerVersion.find('.') != std::string::npos);
  }
}

TEST_CASE("a missing ptxas is a user error that says how to get it") {
  TestModule test(unary3(kFma, kKernel));
  CHECK(failed(test.compile("cuda:sm_90a", {"/nowhere/ptxas"})));
  CHECK_FALSE(isCompilerBug(test.said));
  CHECK(test.said ==
        "there is no ptxas at /nowhere/ptxas; get it with `pip install "
        "nvidia-cuda-nvcc` or with the CUDA toolkit 13\n");
}

TEST_CASE("an architecture that ptxas does not know is a user error") {
  if (!havePtxas())
    return;
  TestModule test(unary3(kFma, kKernel));
  CHECK(failed(compileCuda(*test.module, "sm_60")));
  CHECK_FALSE(isCompilerBug(test.said));
  CHECK(has(test.said, "does not know sm_60; it knows sm_"));
}

TEST_CASE("the report of ptxas is read") {
  PtxasReport clean = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'f' for 'sm_90a'\n"
      "ptxas info    : Function properties for f\n"
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 512 bytes smem\n");
  CHECK(clean.failures.empty());
  CHECK(clean.resources.registers == 40);
  CHECK(clean.resources.shared == 512);
  CHECK(clean.resources.local == 16);
  PtxasReport spilled = parsePtxasLog(
      "    8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n");
  CHECK(spilled.resources.spills == 20);
  CHECK(spilled.failures.empty()); // the pipeline tries a smaller schedule
  PtxasReport serial = parsePtxasLog(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized\n");
  REQUIRE(serial.failures.size() == 1);
  CHECK(has(serial.failures[0], "C7510"));
}

TEST_CASE("ptxas's own words are passed on") {
  if (!havePtxas())
    return;
  auto result = runPtxas(".version 8.0\n.target sm_90a\n.address_size 64\n"
                         ".visible .entry f() { bad.f32 %f1; }\n",
                         "sm_90a", {});
  REQUIRE_FALSE(bool(result));
  CHECK(has(llvm::toString(result.takeError()), "bad"));
}
