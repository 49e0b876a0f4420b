// KernelProgram.h - kernels written by hand, taken through a target's passes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_LOWERING_KERNELPROGRAM_H
#define BITPACT_TESTS_UNIT_LOWERING_KERNELPROGRAM_H

#include "codegen/Target/Target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bitpact::tests {

/// Everything that a context of the compiler holds, loaded.
mlir::MLIRContext &compilerContext();

/// Parses `text`, runs the passes that the pipeline runs for the target, and
/// compiles. A failure is one of the test.
codegen::CompiledCode compileKernel(const std::string &text,
                                    const codegen::Target &target);

/// y[i] = narrow(x[i]), 8 elements a program, from one format to another.
std::string narrowKernel(const std::string &from, const std::string &to);

/// A shared object in memory, loaded; its kernel is called `f`.
class CpuKernel {
public:
  explicit CpuKernel(const codegen::CompiledCode &code);
  ~CpuKernel();
  CpuKernel(const CpuKernel &) = delete;
  void run(const std::vector<uint64_t> &slots, int64_t programs) const;

private:
  void *handle;
  void *entry;
};

/// The levels of x86-64 that this machine runs; says which it does not.
std::vector<const codegen::Target *> cpusHere();

} // namespace bitpact::tests

#endif
