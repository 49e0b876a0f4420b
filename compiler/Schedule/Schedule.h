// Schedule.h - which schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_SCHEDULE_SCHEDULE_H
#define BITPACT_COMPILER_SCHEDULE_SCHEDULE_H

#include "codegen/Target/Target.h"
#include "dialects/Kernel/Tiles.h"
#include "dialects/Pact/Pact.h"

#include <map>

namespace bitpact::schedule {

/// A schedule and whom it serves. Lower priorities are tried first at launch.
struct Proposal {
  /// One of them is set: of a kernel of rows, or of tiles.
  kernel::ScheduleAttr schedule;
  tile::ScheduleAttr tiles;
  std::vector<std::string> roles;
  int64_t priority;
  /// Extents of dims for which it is meant, least and most.
  std::map<std::string, std::pair<int64_t, int64_t>> dims;
  /// What a launch takes on the device that was measured: `cost` of
  /// runtime/package/Format.h. `dim` is empty where nothing was.
  struct Cost {
    std::string dim;
    int64_t start = 0, tile = 0, element = 0;
    /// Taken over from another contract's.
    bool isModel = false;
  };
  Cost cost;
  /// Whether a launch may begin while what precedes it still runs: `overlaps`
  /// of runtime/package/Format.h.
  bool overlaps = false;
  /// Whether registers may turn out not to suffice: then others of the same roles
  /// and dims do as well, and it is left out.
  bool mayLack = false;

  /// One line for manifests and reports.
  std::string text() const { return tiles ? tiles.text() : schedule.text(); }
};

/// On what costs for a target were measured, and when.
struct Measurement {
  llvm::StringRef device;
  int64_t units;
  llvm::StringRef date;
};
std::optional<Measurement> measurementOf(const codegen::Target &target);

/// Schedules that keep the contract on the target, best first, for the roles
/// asked for. If there is none, an error at the contract says for each
/// candidate which field it could not keep.
mlir::FailureOr<std::vector<Proposal>>
propose(pact::ContractOp contract, pact::OperatorOp op,
        const codegen::Target &target, llvm::ArrayRef<std::string> roles);

} // namespace bitpact::schedule

#endif
