// Trial.h - one thing with a fault planted in it, and who noticed
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_FAULTS_TRIAL_H
#define BITPACT_TESTS_FAULTS_TRIAL_H

#include "tests/faults/Mutations.h"

namespace bitpact::faults {

struct Outcome {
  enum Kind { Caught, Missed, NotRun } kind = Missed;
  /// What the detector said, or what went wrong with the trial.
  std::string message;
  /// Where the fault was planted, and in how many places it could have been.
  std::string where;
  /// Who notices a wrong kernel when the proof is left out.
  std::string without;
};

/// First compiles the contracts as they are, which must pass every detector.
/// Then plants the fault in one place, which must be there, and expects that
/// the detector named with it, and none before it, says what is wrong.
class Trials {
public:
  /// `scratch`: a directory for packages. `keep`: one for packages with faults
  /// that only a device which is not here can notice; or empty.
  Trials(std::string scratch, std::string keep)
      : scratch(std::move(scratch)), keep(std::move(keep)) {}

  Outcome run(const Mutation &mutation);
  Outcome run(const PackageMutation &mutation);

private:
  struct Compiled {
    bool succeeded = false;
    std::string said;
    std::string package;
    /// The kernel that was changed, and what its sites were.
    std::string kernel;
    int sites = 0;
    std::string site;
  };
  struct Checked {
    int status = 0;
    /// Kernel → its first difference, if there is one.
    std::map<std::string, std::string> differences;
    std::string said;
  };
  Compiled compile(const std::vector<std::string> &contracts,
                   const std::string &target, const Mutation *mutation,
                   bool prove);
  /// Does `bitpact reveal` find another tree in the changed kernel, or none?
  bool isRevealed(const Compiled &compiled);
  std::string kernelOf(const Subject &subject);
  Checked check(const std::string &package);
  /// Asks for the variant of the attested library.
  Checked ask(const std::string &package);
  Outcome judge(const Mutation &mutation, const Compiled &compiled);
  Outcome judgeCheck(const Mutation &mutation, const Compiled &compiled);
  /// A package of the contracts as they are, and why they do not pass.
  struct Clean {
    std::string package, why;
  };
  const Clean &clean(const std::vector<std::string> &contracts,
                     const std::string &target, bool attested = false);

  Outcome keepFor(const std::string &name, const std::string &target,
                  const std::string &package);

  std::string scratch, keep;
  int packages = 0;
  std::map<std::string, Clean> cleanRuns;
};

} // namespace bitpact::faults

#endif
