// TileSchedule.h - which tile schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_COMPILER_SCHEDULE_TILESCHEDULE_H
#define BITPACT_COMPILER_SCHEDULE_TILESCHEDULE_H

#include "compiler/Schedule/Schedule.h"

namespace bitpact::schedule {

/// Appends the tile schedules that keep the contract, and why others do not.
void proposeTiles(pact::ContractOp contract, pact::OperatorOp op,
                  const codegen::Target &target,
                  llvm::ArrayRef<std::string> roles,
                  std::vector<Proposal> &proposals,
                  std::vector<std::string> &refusals);

/// Those whose consumers copy, for targets without a unit for it.
void proposeSharedTiles(pact::ContractOp contract, pact::OperatorOp op,
                        const codegen::Target &target,
                        llvm::ArrayRef<std::string> roles,
                        std::vector<Proposal> &proposals,
                        std::vector<std::string> &refusals);

/// Those of CPUs, whose programs pack their blocks themselves.
void proposeOwnTiles(pact::ContractOp contract, pact::OperatorOp op,
                     const codegen::Target &target,
                     llvm::ArrayRef<std::string> roles,
                     std::vector<Proposal> &proposals,
                     std::vector<std::string> &refusals);

/// Extents that a tile kernel of the operator can have.
std::map<std::string, std::pair<int64_t, int64_t>>
tileExtents(pact::ContractOp contract, pact::OperatorOp op);

} // namespace bitpact::schedule

#endif
