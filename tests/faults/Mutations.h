// Mutations.h - faults of a compiler, planted one at a time
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_FAULTS_MUTATIONS_H
#define BITPACT_TESTS_FAULTS_MUTATIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bitpact::faults {

/// Where something is wrong.
enum class Stage {
  Kernel,  ///< the lowering or the schedule: target-neutral kernels
  LLVM,    ///< a target's conversion, or the instructions it asks for
  Package, ///< the files that are shipped
};

/// Who must notice.
enum class Detector {
  Nobody,      ///< a change that is no fault, which nobody may report
  Verifier,    ///< the IR's own rules
  Interpreter, ///< the proof of each kernel on trees
  Lint,        ///< the compiler's reading of its own code, by rule
  Loader,      ///< opening the package, or loading code from it
  Challenge,   ///< of a pinned library, as its variant is loaded
  Check,       ///< `bitpact check`: bytes against the oracle
};
const char *nameOf(Stage stage);
const char *nameOf(Detector detector);

/// What a fault is planted in: of one contract (a file of
/// tests/faults/contracts) and one target, the first variant whose schedule has
/// this text in it.
struct Subject {
  std::string contract, target;
  std::string schedule = "row_per_group";
};

/// One operation changed in one kernel.
struct Mutation {
  std::string name;
  Subject subject;
  Stage stage;
  Detector detector;
  /// What one line of the detector's words must contain.
  std::vector<std::string> says;
  /// The operations where it can be planted, in program order.
  std::function<bool(mlir::Operation *)> isSite;
  std::function<void(mlir::Operation *, mlir::OpBuilder &)> change;
  /// Which of them it is; -1 is the last.
  int site = 0;
};

/// The files of a package, with the manifest parsed.
struct PackageFiles {
  nlohmann::json manifest;
  std::map<std::string, std::string> files;

  nlohmann::json &variant(const std::string &schedule = "row_per_group");
  std::string &code(const std::string &schedule = "row_per_group");
};

/// One change to a package. `Sealed`: hashes and sizes are then made anew, as
/// by a tool that writes wrong packages.
struct PackageMutation {
  std::string name;
  std::vector<std::string> contracts;
  std::string target;
  enum Seal { Broken, Sealed } seal;
  Detector detector;
  std::vector<std::string> says;
  /// False where there is nothing to change.
  std::function<bool(PackageFiles &)> change;
  /// In a package with an attested library, whose variant is asked for by name.
  bool attested = false;
};

std::vector<Mutation> kernelMutations();
std::vector<Mutation> stateMutations();
std::vector<Mutation> tileMutations();
std::vector<Mutation> codeMutations();
std::vector<Mutation> meetingMutations();
std::vector<PackageMutation> packageMutations();
std::vector<PackageMutation> pinMutations();

/// A mutation of operations of one kind.
template <typename Op, typename At, typename Change>
Mutation on(Stage stage, std::string name, Subject subject, Detector detector,
            std::vector<std::string> says, At at, Change change, int site = 0) {
  return {std::move(name),
          std::move(subject),
          stage,
          detector,
          std::move(says),
          [at](mlir::Operation *op) {
            auto cast = mlir::dyn_cast<Op>(op);
            return cast && at(cast);
          },
          [change](mlir::Operation *op, mlir::OpBuilder &builder) {
            change(mlir::cast<Op>(op), builder);
          },
          site};
}

} // namespace bitpact::faults

#endif
