// Checker.h - the one run of check: what Check, CheckAnswers and CheckLaunches
// do Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_CHECKER_H
#define BITPACT_EVIDENCE_CHECKER_H

#include "tools/evidence/Answer.h"
#include "tools/evidence/Indices.h"
#include "tools/evidence/Layout.h"

namespace bitpact::evidence {

using reference::Evaluator;

/// One variant on one device.
struct Runner {
  const VariantSpec *variant;
  const Device *device;
  Kernel kernel;
  size_t report;
};

class Checker {
public:
  Checker(const Package &packageToCheck, const CheckOptions &checkOptions,
          const Progress &reportProgress)
      : package(packageToCheck), options(checkOptions),
        progress(reportProgress) {}

  CheckReport run();

private:
  /// Of so few, every layout is tried, and each row alone.
  static constexpr int64_t smallRows = 64;

  void checkContract(const ContractSpec &contract);
  void findRunners(const ContractSpec &contract);
  std::map<std::string, std::vector<int64_t>> extentsFor() const;
  std::vector<int64_t> rowsFor(const Dims &extents) const;
  void checkData(const ContractSpec &contract, const Evaluator &oracle,
                 Recipe recipe, uint64_t seed, const Dims &extents);
  void checkRows(const Case &one);
  std::vector<Answer> answersFor(const ContractSpec &contract,
                                 const Evaluator &oracle, Recipe recipe,
                                 uint64_t seed, const Dims &extents,
                                 const std::vector<int64_t> &counts);
  Answer answerFor(const ContractSpec &contract, const Evaluator &oracle,
                   Recipe recipe, uint64_t seed, const Dims &dims,
                   const std::vector<int64_t> &sampledCounts,
                   const Answer *full);
  void takeLaunch(const ContractSpec &contract, Answer &answer,
                  const Dims &dims);
  bool leavesOut(const Case &one, const Device &device) const;
  void checkLayout(const Case &one, const Layout &layout, const Device &device);
  void checkLoneRows(const Case &one, const Device &device);
  void launchAndCompare(Runner &runner, const Case &one, const Layout &layout,
                        std::vector<Placed> &placed);
  void launchOnce(Runner &runner, const Case &one, const Layout &layout,
                  std::vector<Placed> &placed, const std::vector<View> &views,
                  int64_t turn);
  [[noreturn]] static void stopped(const Runner &runner, const Case &one,
                                   const Layout &layout,
                                   const DriverError &error);
  std::vector<Placed> place(const Case &one, const Layout &layout,
                            const Device &device) const;
  static std::vector<View> viewsOf(const std::vector<Placed> &placed);
  /// What a variant wrote. Of a library's NaNs it is not asked which they are.
  static std::vector<uint8_t> written(const Runner &runner,
                                      const TensorSpec &tensor, Placed &placed);
  void record(Runner &runner, const Case &one, const Layout &layout,
              Difference difference, const std::string &against);
  /// The fault word must be set exactly if an index of the launch is bad:
  /// of all rows, or of one of them.
  void checkFault(Runner &runner, const Case &one, const Layout &layout,
                  int64_t row = -1);
  void noteSameBytes();

  const Package &package;
  const CheckOptions &options;
  const Progress &progress;
  CheckReport report;
  std::vector<Device> devices;
  RowShape shape;
  std::optional<Indices> inputs;
  bool usesAtom = false;
  std::vector<Runner> runners;
  /// Of the case under way: which bytes each variant gave, and the reports
  /// that got their first difference, each with its place in `given`.
  std::vector<std::pair<std::string, size_t>> given;
  std::vector<std::pair<size_t, size_t>> fresh;
  size_t current = 0;
  int64_t done = 0, total = 0;
};

} // namespace bitpact::evidence

#endif // BITPACT_EVIDENCE_CHECKER_H
