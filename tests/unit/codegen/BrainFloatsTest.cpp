// BrainFloatsTest.cpp - what is computed in f32 stays there
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/BrainFloats.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"

#include <catch2/catch.hpp>

using namespace bitpact;

namespace {

/// bf16 + f16, or bf16 * bf16, in f32 and then rounded.
constexpr const char *text = R"(
define half @sum(bfloat %a, half %b) {
  %x = fpext bfloat %a to float
  %y = fpext half %b to float
  %z = fadd float %x, %y
  %r = fptrunc float %z to half
  ret half %r
}
define <2 x bfloat> @product(<2 x bfloat> %a, <2 x bfloat> %b) {
  %x = fpext <2 x bfloat> %a to <2 x float>
  %y = fpext <2 x bfloat> %b to <2 x float>
  %z = fmul <2 x float> %x, %y
  %r = fptrunc <2 x float> %z to <2 x bfloat>
  ret <2 x bfloat> %r
}
define double @wide(bfloat %a) {
  %x = fpext bfloat %a to double
  ret double %x
}
)";

/// Additions and products whose type is not f32, after LLVM has simplified.
int narrowOperations(llvm::Module &module) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  int count = 0;
  for (llvm::Function &function : module) {
    passes.run(function, functions);
    for (llvm::Instruction &each : llvm::instructions(function))
      count += llvm::isa<llvm::BinaryOperator>(each) &&
               each.getType()->isFPOrFPVectorTy() &&
               !each.getType()->getScalarType()->isFloatTy();
  }
  return count;
}

} // namespace

TEST_CASE("bf16 is widened in integers, and LLVM narrows no operation") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto untouched = llvm::parseAssemblyString(text, error, context);
  REQUIRE(untouched);
  // What the pass is for: without it LLVM computes in the narrow format.
  CHECK(narrowOperations(*untouched) > 0);

  auto module = llvm::parseAssemblyString(text, error, context);
  codegen::widenBrainFloatsInIntegers(*module);
  CHECK_FALSE(llvm::verifyModule(*module));
  int fromBrain = 0, shifts = 0;
  for (llvm::Function &function : *module)
    for (llvm::Instruction &each : llvm::instructions(function)) {
      if (auto *extension = llvm::dyn_cast<llvm::FPExtInst>(&each))
        fromBrain += extension->getSrcTy()->getScalarType()->isBFloatTy();
      shifts += each.getOpcode() == llvm::Instruction::Shl;
    }
  CHECK(fromBrain == 0);
  CHECK(shifts == 4);
  CHECK(narrowOperations(*module) == 0);
}
