// Targets.h - every target that is compiled in
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_CODEGEN_TARGETS_H
#define BITPACT_CODEGEN_TARGETS_H

#include "codegen/Target/Registry.h"

namespace bitpact::codegen {

/// One line per target directory; a new one adds its own here.
void registerCpuTargets(TargetRegistry &registry);
void registerCudaTargets(TargetRegistry &registry);
void registerHipTargets(TargetRegistry &registry);

const TargetRegistry &builtinTargets();

} // namespace bitpact::codegen

#endif
