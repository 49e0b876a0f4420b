// Schedule.h - which schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_SCHEDULE_SCHEDULE_H
#define BITPACT_COMPILER_SCHEDULE_SCHEDULE_H

#include "codegen/Target/Target.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Pact/Pact.h"

#include <optional>

namespace bitpact::schedule {

/// A schedule and whom it serves. Lower priorities are tried first at launch.
struct Proposal {
  kernel::ScheduleAttr schedule;
  std::vector<std::string> roles;
  int64_t priority;
  /// It is for launches of at most so many rows; nothing: of any number.
  std::optional<int64_t> mostRows;
};

/// Schedules that keep the contract on the target, best first, for the roles
/// asked for. If there is none, an error at the contract says for each
/// candidate which field it could not keep.
mlir::FailureOr<std::vector<Proposal>>
propose(pact::ContractOp contract, pact::OperatorOp op,
        const codegen::Target &target, llvm::ArrayRef<std::string> roles);

} // namespace bitpact::schedule

#endif
