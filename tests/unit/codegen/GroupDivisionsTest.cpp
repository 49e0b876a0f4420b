// GroupDivisionsTest.cpp - grouped divisions are code that is accepted
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/GroupDivisions.h"
#include "codegen/NVPTX/Lint.h"
#include "codegen/NVPTX/ObjectCode.h"
#include "codegen/NVPTX/Ptxas.h"
#include "mlir/Pass/PassManager.h"
#include "tests/unit/codegen/Module.h"

using namespace bitpact::codegen;

TEST_CASE("PTX of grouped divisions is linted as divisions and assembled") {
  // Operands that are constants, and one divisor of two.
  TestModule test(unary3(R"(
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %q0 = llvm.fdiv %one, %a : f32
      %q1 = llvm.fdiv %one, %b : f32
      %q2 = llvm.fdiv %a, %c : f32
      %q3 = llvm.fdiv %b, %c : f32
      %s = llvm.fadd %q0, %q1 : f32
      %t = llvm.fadd %q2, %q3 : f32
      %r = llvm.fmul %s, %t : f32)",
                         kKernel));
  mlir::PassManager manager(&test.context);
  manager.addPass(createGroupDivisionsPass());
  REQUIRE(succeeded(manager.run(*test.module)));
  CHECK(isCommon(*test.module));
  for (const char *arch : {"sm_80", "sm_90a", "sm_100a"}) {
    auto ptx = emitPtx(*test.module, arch);
    REQUIRE(succeeded(ptx));
    INFO(*ptx);
    CHECK(ptx->find("over<4>") != ptx->npos);
    LintExpectation expected;
    expected[OpKind::Div] = {4, 4};
    expected[OpKind::Add] = {2, 2};
    expected[OpKind::Mul] = {1, 1};
    CHECK(lintPtx(*ptx, expected).empty());
    auto path = findPtxas({});
    if (!path) {
      WARN("skipped: " << llvm::toString(path.takeError()));
      continue;
    }
    auto result = runPtxas(*ptx, arch, {});
    CHECK(bool(result));
    if (!result)
      FAIL(llvm::toString(result.takeError()));
    CHECK(result->report.resources.spills == 0);
  }
}
