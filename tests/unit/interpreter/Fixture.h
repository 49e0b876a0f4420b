// Fixture.h - contracts, schedules by hand, kernels and inputs
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_TESTS_UNIT_INTERPRETER_FIXTURE_H
#define BITPACT_TESTS_UNIT_INTERPRETER_FIXTURE_H

#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Reader/Reader.h"

#include <random>

namespace bitpact::tests {

mlir::MLIRContext &context();

/// What the diagnostic engine is told while this lives.
class Said {
public:
  Said()
      : handler(&context(), [this](mlir::Diagnostic &what) {
          text += what.str() + "\n";
          for (mlir::Diagnostic &note : what.getNotes())
            text += note.str() + "\n";
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};

struct Case {
  std::string name;
  reader::ReadResult read;
  pact::ContractOp contract() const;
  pact::OperatorOp op() const;
  /// The dim that is reduced, and its extent.
  mlir::StringAttr reduced() const;
  int64_t extent() const;
};

/// A contract file's text; a failure is one of the test.
Case readText(const std::string &text);
Case readFile(const std::string &path);
/// Generated contracts: every structure of digits and merges.
const std::vector<Case> &generated();
/// Files of contracts over all operators, in structures that nobody chose.
std::vector<std::string> randomContracts();

/// `sum@1` over `hidden` with that tree; bf16 in, f32 accumulators.
std::string sumContract(const std::string &hidden, const std::string &partition,
                        const std::string &merges,
                        const std::string &start = "identity");

kernel::ScheduleAttr schedule(llvm::StringRef kind, int64_t lanes,
                              int64_t subgroup, int64_t vectorBytes,
                              int64_t unroll);
/// Rows across 4 to 512 lanes, in subgroups of 32 and 64; a row a lane; narrow
/// and wide accesses; loops and unrolled digits.
std::vector<kernel::ScheduleAttr> allSchedules();

struct Kernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<kernel::FuncOp> steps;
  kernel::FuncOp func; ///< the first
};
/// Nothing if the schedule cannot keep the contract.
std::optional<Kernel> lower(const Case &of, kernel::ScheduleAttr schedule);

/// `log_sum_exp@1` over `vocab`, f32; `state` is two_pass or online.
std::string stateContract(const std::string &vocab,
                          const std::string &partition,
                          const std::string &merges, const std::string &state,
                          const std::string &start = "identity");

/// Inputs with wide exponents, zeros of both signs, some infinities and NaNs.
interpreter::Tensors inputs(const Case &of, int64_t rows, std::mt19937 &random);
/// The same with the outputs, which have no bytes.
interpreter::Tensors withOutputs(const Case &of, interpreter::Tensors tensors,
                                 int64_t rows);
interpreter::Dims dims(const Case &of, int64_t rows);

} // namespace bitpact::tests

#endif
