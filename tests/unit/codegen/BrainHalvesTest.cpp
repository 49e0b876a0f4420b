// BrainHalvesTest.cpp - bf16 in halves of registers, on NVIDIA GPUs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Target/BrainHalves.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

using namespace bitpact;

namespace {

constexpr const char *text = R"(
define float @rounded(float %a) {
  %r = fptrunc float %a to bfloat
  %x = fpext bfloat %r to float
  ret float %x
}
define <2 x float> @pair(<2 x float> %a) {
  %r = fptrunc <2 x float> %a to <2 x bfloat>
  %x = fpext <2 x bfloat> %r to <2 x float>
  ret <2 x float> %x
}
define float @twice(double %a) {
  %r = fptrunc double %a to bfloat
  %x = fpext bfloat %r to float
  ret float %x
}
define float @lower(<4 x bfloat> %a) {
  %r = extractelement <4 x bfloat> %a, i32 2
  %x = fpext bfloat %r to float
  ret float %x
}
define float @upper(<4 x bfloat> %a) {
  %r = extractelement <4 x bfloat> %a, i32 3
  %x = fpext bfloat %r to float
  ret float %x
}
define void @stored(float %a, float %b, ptr %p) {
  %r = fptrunc float %a to bfloat
  %u = fcmp uno float %a, %a
  %c = select i1 %u, bfloat 0xR7FC0, bfloat %r
  %s = fptrunc float %b to bfloat
  %v = fcmp uno float %b, %b
  %d = select i1 %v, bfloat 0xR7FC0, bfloat %s
  %x = insertelement <2 x bfloat> poison, bfloat %c, i32 0
  %y = insertelement <2 x bfloat> %x, bfloat %d, i32 1
  store <2 x bfloat> %y, ptr %p
  ret void
}
define void @uncanonical(float %a, float %b, ptr %p) {
  %r = fptrunc float %a to bfloat
  %s = fptrunc float %b to bfloat
  %x = insertelement <2 x bfloat> poison, bfloat %r, i32 0
  %y = insertelement <2 x bfloat> %x, bfloat %s, i32 1
  store <2 x bfloat> %y, ptr %p
  ret void
}
)";

struct Halves {
  explicit Halves(const char *triple) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(text, error, context);
    REQUIRE(module);
    module->setTargetTriple(llvm::Triple(triple));
    codegen::keepBrainFloatsInHalves(*module);
    CHECK_FALSE(llvm::verifyModule(*module));
  }
  size_t count(const char *function, const std::string &part) {
    std::string body;
    llvm::raw_string_ostream(body) << *module->getFunction(function);
    size_t found = 0;
    for (size_t at = body.find(part); at != body.npos;
         at = body.find(part, at + 1))
      ++found;
    return found;
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace

TEST_CASE("on NVIDIA GPUs bf16 is computed with in halves of registers") {
  Halves halves("nvptx64-nvidia-cuda");
  // The value above, zeros below: no shift.
  CHECK(halves.count("rounded", "ff2bf16x2.rn(float %a, float 0.0") == 1);
  CHECK(halves.count("rounded", "shl") == 0);
  CHECK(halves.count("pair", "ff2bf16x2.rn(") == 2);
  CHECK(halves.count("lower", "shl i32") == 1);
  CHECK(halves.count("lower", "and i32") == 0);
  CHECK(halves.count("upper", ", -65536") == 1);
  CHECK(halves.count("upper", "shl") == 0);
  for (const char *name : {"rounded", "pair", "lower", "upper"})
    CHECK(halves.count(name, "fpext") == 0);
  // Two roundings are not one.
  CHECK(halves.count("twice", "fptrunc double") == 1);
  CHECK(halves.count("twice", "ff2bf16x2") == 0);
}

TEST_CASE("on NVIDIA GPUs two roundings that are stored are one instruction") {
  Halves halves("nvptx64-nvidia-cuda");
  // The first element is the lower half.
  CHECK(halves.count("stored", "ff2bf16x2.rn(float %b, float %a)") == 1);
  CHECK(halves.count("stored", "fcmp uno float %a, %b") == 1);
  CHECK(halves.count("stored", "br i1") == 1);
  CHECK(halves.count("stored", "phi i32") == 1);
  // Of NaN whose bits nobody has fixed it is not known.
  CHECK(halves.count("uncanonical", "ff2bf16x2") == 0);
}

TEST_CASE("elsewhere bf16 stays as it was") {
  Halves halves("x86_64-unknown-linux-gnu");
  for (const char *name : {"rounded", "pair", "lower", "upper", "stored"})
    CHECK(halves.count(name, "ff2bf16x2") == 0);
  CHECK(halves.count("rounded", "fpext") == 1);
}
