// KernelProgram.cpp - kernels written by hand, taken through a target's passes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/lowering/KernelProgram.h"

#include "codegen/CPU/ConvertKernel.h"
#include "codegen/Lowering/Passes.h"
#include "codegen/NVPTX/ConvertKernel.h"
#include "codegen/Targets.h"
#include "compiler/Pipeline/Pipeline.h"
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <unistd.h>

using namespace bitpact;
using namespace bitpact::tests;

mlir::MLIRContext &tests::compilerContext() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    pipeline::registerDialects(registry);
    auto *made = new mlir::MLIRContext(registry);
    made->loadAllAvailableDialects();
    made->printOpOnDiagnostic(false);
    return made;
  }();
  return *context;
}

codegen::CompiledCode tests::compileKernel(const std::string &text,
                                           const codegen::Target &target) {
  mlir::MLIRContext &context = compilerContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  bool gpu = target.kind() != codegen::TargetKind::Cpu;
  mlir::PassManager manager(&context);
  mlir::OpPassManager &kernels = manager.nest<kernel::FuncOp>();
  if (gpu)
    kernels.addPass(lowering::createDistributePass());
  kernels.addPass(lowering::createExpandNarrowPass(/*keepBf16=*/gpu));
  manager.addPass(gpu ? codegen::createConvertKernelToNVVMPass()
                      : codegen::createConvertKernelToCPUPass());
  lowering::addToLLVMPasses(manager);
  REQUIRE(succeeded(manager.run(*module)));
  auto code = target.compile(*module, {});
  REQUIRE(succeeded(code));
  return *code;
}

std::string tests::narrowKernel(const std::string &from,
                                const std::string &to) {
  std::string v = "vector<8x" + from + ">", w = "vector<8x" + to + ">";
  return "kernel.func @f(%x: !kernel.buffer<" + from +
         ">, %y: !kernel.buffer<" + to +
         R"(>, %n: i64) slots ["x", "y", "n"] rows "n"
    schedule <"row_per_lane", lanes = 8, subgroup = 8,
              programs_per_group = 1, vector_bytes = 0, unroll = 16> {
  %p = kernel.program
  %eight = arith.constant 8 : i64
  %o = arith.muli %p, %eight : i64
  %v = kernel.load %x[%o] lane_stride 1 align 2 : !kernel.buffer<)" +
         from + ">, " + v + "\n  %r = kernel.narrow %v : " + v + " to " + w +
         "\n  kernel.store %r to %y[%o] lane_stride 1 align 2 : "
         "!kernel.buffer<" +
         to + ">, " + w + "\n  kernel.return\n}\n";
}

CpuKernel::CpuKernel(const codegen::CompiledCode &code) {
  char path[] = "/tmp/bitpact-lowering-XXXXXX";
  int file = mkstemp(path);
  REQUIRE(file >= 0);
  REQUIRE(write(file, code.object.data(), code.object.size()) ==
          ssize_t(code.object.size()));
  close(file);
  handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  REQUIRE(handle);
  entry = dlsym(handle, "f");
  REQUIRE(entry);
}

CpuKernel::~CpuKernel() { dlclose(handle); }

void CpuKernel::run(const std::vector<uint64_t> &slots,
                    int64_t programs) const {
  reinterpret_cast<void (*)(const uint64_t *, int64_t, int64_t)>(entry)(
      slots.data(), 0, programs);
}

std::vector<const codegen::Target *> tests::cpusHere() {
  std::vector<const codegen::Target *> targets;
  const codegen::TargetRegistry &all = codegen::builtinTargets();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    targets.push_back(all.find("cpu:x86-64-v3"));
  else
    WARN("skipped: this machine does not run x86-64-v3");
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    targets.push_back(all.find("cpu:x86-64-v4"));
  else
    WARN("skipped: this machine does not run x86-64-v4");
  return targets;
}
