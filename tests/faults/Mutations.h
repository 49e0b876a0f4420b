// Mutations.h - faults of a compiler, planted one at a time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_FAULTS_MUTATIONS_H
#define BITPACT_TESTS_FAULTS_MUTATIONS_H

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace bitpact::faults {

/// Where the compiler is wrong.
enum class Stage {
  Kernel, ///< the lowering: target-neutral kernels
  LLVM,   ///< a target's conversion
};

/// Who must notice.
enum class Detector {
  Check, ///< `bitpact check`: bytes against the oracle
  Lint,  ///< the compiler's reading of its own code, by rule
};

struct Mutation {
  std::string name;
  /// A file in tests/faults/contracts on which the fault shows.
  std::string contract;
  std::string target;
  Stage stage;
  /// Changes the module of one variant and says how many places it changed:
  /// none where the variant has nothing of the kind.
  std::function<int(mlir::ModuleOp)> apply;
  Detector detector;
  /// What the message must contain: a tensor of the first difference (Check),
  /// a rule and an instruction (Lint).
  std::vector<std::string> says;
};

const std::vector<Mutation> &mutations();

} // namespace bitpact::faults

#endif
