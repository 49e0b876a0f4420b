// Trial.h - one compilation, with or without a fault, and who noticed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_FAULTS_TRIAL_H
#define BITPACT_TESTS_FAULTS_TRIAL_H

#include "tests/faults/Mutations.h"

#include <map>

namespace bitpact::faults {

struct Outcome {
  enum Kind { Caught, Missed, NotRun } kind = Missed;
  /// What the detector said, or what went wrong with the trial.
  std::string message;
};

/// Compiles the contract as it is: that must pass every detector. Then
/// compiles it with the fault, which must change at least one variant, and
/// expects the detector to name exactly what is wrong.
class Trials {
public:
  /// `scratch`: a directory for packages.
  explicit Trials(std::string scratch) : scratch(std::move(scratch)) {}

  Outcome run(const Mutation &mutation);

private:
  struct Compiled {
    bool succeeded = false;
    std::string said;
    /// Kernel → places that were changed in it.
    std::map<std::string, int> changed;
    std::string package;
  };
  struct Checked {
    int status = 0;
    /// Kernel → its first difference, if there is one.
    std::map<std::string, std::string> differences;
    std::string said;
  };
  Compiled compile(const std::string &contract, const std::string &target,
                   const Mutation *mutation);
  Checked check(const std::string &package);
  /// Empty if the contract as it is passes, else why not.
  std::string &clean(const std::string &contract, const std::string &target);

  std::string scratch;
  int packages = 0;
  std::map<std::string, std::string> cleanRuns;
};

} // namespace bitpact::faults

#endif
