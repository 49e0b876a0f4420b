// Targets.cpp - every target that is compiled in
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets.h"

namespace bitpact::codegen {

const TargetRegistry &builtinTargets() {
  static const TargetRegistry registry = [] {
    TargetRegistry all;
    registerCpuTargets(all);
    registerCudaTargets(all);
    registerHipTargets(all);
    return all;
  }();
  return registry;
}

} // namespace bitpact::codegen
