// CpuObjectTest.cpp - shared objects are loaded and their bits compared
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/ObjectCode.h"
#include "tests/unit/codegen/Module.h"
#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <unistd.h>

using namespace bitpact::codegen;

namespace {

/// A shared object from bytes, loaded.
class Loaded {
public:
  explicit Loaded(const CompiledCode &code) {
    char path[] = "/tmp/bitpact-unit-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    REQUIRE(write(file, code.object.data(), code.object.size()) ==
            ssize_t(code.object.size()));
    close(file);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    INFO((handle ? "" : dlerror()));
    REQUIRE(handle);
  }
  ~Loaded() { dlclose(handle); }
  template <typename F> F *function(const char *name = "f") const {
    void *address = dlsym(handle, name);
    REQUIRE(address);
    return reinterpret_cast<F *>(address);
  }

private:
  void *handle;
};

std::vector<const char *> runnable() {
  std::vector<const char *> specs;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    specs.push_back("cpu:x86-64-v3");
  else
    WARN("skipped: this machine does not run x86-64-v3");
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    specs.push_back("cpu:x86-64-v4");
  else
    WARN("skipped: this machine does not run x86-64-v4");
  return specs;
}

uint32_t run3(const char *spec, const std::string &body, uint32_t a, uint32_t b,
              uint32_t c) {
  TestModule test(unary3(body));
  auto code = test.compile(spec);
  INFO(test.said);
  REQUIRE(succeeded(code));
  uint32_t x[3] = {a, b, c}, y = 0xdeadbeef;
  Loaded(*code).function<void(const void *, void *)>()(x, &y);
  return y;
}

} // namespace

TEST_CASE("a product is rounded before it is added unless it is an fma") {
  // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24; the rounded product is a tie that
  // goes to 1 + 2^-11.
  for (const char *spec : runnable()) {
    CHECK(run3(spec, kMulAdd, 0x3F800800, 0x3F800800, 0xBF801000) == 0);
    CHECK(run3(spec, kFma, 0x3F800800, 0x3F800800, 0xBF801000) == 0x33800000);
  }
}

TEST_CASE("division and square root are rounded to nearest") {
  for (const char *spec : runnable()) {
    // 1/3; sqrt(2) as 2/sqrt(2) is left to a second operation.
    CHECK(run3(spec, "%r = llvm.fdiv %a, %b : f32", 0x3F800000, 0x40400000,
               0) == 0x3EAAAAAB);
    CHECK(run3(spec, "%r = llvm.intr.sqrt(%a) : (f32) -> f32", 0x40000000, 0,
               0) == 0x3FB504F3);
  }
}

TEST_CASE("subnormals stay and ties go to even") {
  for (const char *spec : runnable()) {
    // 3 * 2^-149 / 2 is a tie between 1 and 2 units.
    CHECK(run3(spec, "%r = llvm.fdiv %a, %b : f32", 3, 0x40000000, 0) == 2);
    CHECK(run3(spec, "%r = llvm.fmul %a, %b : f32", 0x00800000, 0x3F000000,
               0) == 0x00400000);
  }
}

TEST_CASE("maximum keeps NaN and orders zeros") {
  const char *body = "%r = llvm.intr.maximum(%a, %b) : (f32, f32) -> f32";
  for (const char *spec : runnable()) {
    CHECK(run3(spec, body, 0x80000000, 0, 0) == 0);
    CHECK(run3(spec, body, 0, 0x80000000, 0) == 0);
    CHECK(run3(spec, body, 0x7FC00000, 0x3F800000, 0) == 0x7FC00000);
    CHECK(run3(spec, body, 0x3F800000, 0x7FC00000, 0) == 0x7FC00000);
  }
}

TEST_CASE("bf16 is rounded with integers") {
  const char *body = R"(
    %u = llvm.bitcast %a : f32 to i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %bias = llvm.mlir.constant(32767 : i32) : i32
    %high = llvm.lshr %u, %c16 : i32
    %odd = llvm.and %high, %c1 : i32
    %s0 = llvm.add %u, %bias : i32
    %s1 = llvm.add %s0, %odd : i32
    %h = llvm.lshr %s1, %c16 : i32
    %r = llvm.bitcast %h : i32 to f32)";
  for (const char *spec : runnable()) {
    CHECK(run3(spec, body, 0x3F808000, 0, 0) == 0x3F80); // tie, even below
    CHECK(run3(spec, body, 0x3F818000, 0, 0) == 0x3F82); // tie, even above
    CHECK(run3(spec, body, 0x3F808001, 0, 0) == 0x3F81);
    CHECK(run3(spec, body, 0x00008000, 0, 0) == 0); // subnormal tie
    CHECK(run3(spec, body, 0x00018000, 0, 0) == 2);
  }
}

TEST_CASE("a normalised row has the bits of hand arithmetic") {
  // x = 3 4 0 0: mean of squares 6.25, root 2.5, 1/2.5 = 0x3ECCCCCD; the
  // products with 3 and 4 are 0x3F99999A and 0x3FCCCCCD.
  for (const char *spec : runnable()) {
    TestModule test(normRow());
    auto code = test.compile(spec);
    INFO(test.said);
    REQUIRE(succeeded(code));
    const float x[4] = {3, 4, 0, 0};
    uint32_t y[4];
    Loaded(*code).function<void(const void *, void *, int64_t)>()(x, y, 4);
    CHECK(y[0] == 0x3F99999A);
    CHECK(y[1] == 0x3FCCCCCD);
    CHECK(y[2] == 0);
    CHECK(y[3] == 0);
    auto findings =
        builtinTargets().find(spec)->lint(*code, LintExpectation{true}
                                                     .some(OpKind::Fma)
                                                     .some(OpKind::Div)
                                                     .some(OpKind::Sqrt)
                                                     .none(OpKind::Add));
    INFO(listOf(findings));
    CHECK(findings.empty());
  }
}

TEST_CASE("two compilations give the same bytes") {
  for (const char *spec : {"cpu:x86-64-v3", "cpu:x86-64-v4"}) {
    TestModule first(normRow()), second(normRow());
    auto a = first.compile(spec), b = second.compile(spec);
    REQUIRE(succeeded(a));
    REQUIRE(succeeded(b));
    CHECK(a->object == b->object);
    CHECK(a->assembly == b->assembly);
  }
}

TEST_CASE("each level has its vector width") {
  const std::string text = R"(
  llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr) {
    %a = llvm.load %x : !llvm.ptr -> vector<16xf32>
    %b = llvm.fadd %a, %a : vector<16xf32>
    llvm.store %b, %y : vector<16xf32>, !llvm.ptr
    llvm.return
  })";
  TestModule v3(text), v4(text);
  auto narrow = v3.compile("cpu:x86-64-v3"), wide = v4.compile("cpu:x86-64-v4");
  REQUIRE(succeeded(narrow));
  REQUIRE(succeeded(wide));
  CHECK(narrow->assembly.find("%ymm") != std::string::npos);
  CHECK(narrow->assembly.find("%zmm") == std::string::npos);
  CHECK(wide->assembly.find("%zmm") != std::string::npos);
}

TEST_CASE("a loop that fills memory does not become a library call") {
  TestModule test(R"(
  llvm.func @f(%y: !llvm.ptr, %n: i64) {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^loop(%c0 : i64)
  ^loop(%i: i64):
    %p = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %zero, %p : f32, !llvm.ptr
    %j = llvm.add %i, %c1 : i64
    %more = llvm.icmp "slt" %j, %n : i64
    llvm.cond_br %more, ^loop(%j : i64), ^done
  ^done:
    llvm.return
  })");
  auto code = test.compile("cpu:x86-64-v3");
  INFO(test.said);
  CHECK(succeeded(code));
}

TEST_CASE("an undefined symbol is a compiler bug that names it") {
  TestModule test(unary3("%r = llvm.frem %a, %b : f32"));
  CHECK(failed(test.compile("cpu:x86-64-v3")));
  CHECK(isCompilerBug(test.said));
  CHECK(test.said.find("L10 object: undefined symbol 'fmodf'") !=
        std::string::npos);
}

TEST_CASE("truncation to bf16 is refused where it would call a library") {
  TestModule test(unary3(R"(
    %t = llvm.fptrunc %a : f32 to bf16
    %r = llvm.fpext %t : bf16 to f32)"));
  CHECK(failed(test.compile("cpu:x86-64-v3")));
  CHECK(test.said.find("undefined symbol '__truncsfbf2'") != std::string::npos);
}
