// Schedule.cpp - which schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/Schedule.h"

#include "codegen/Lowering/RowLowering.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

enum Serves { Throughput = 1, Latency = 2, Both = 3 };

struct Candidate {
  StringRef kind;
  int64_t lanes, subgroup, programsPerGroup, vectorBytes, unroll;
  Serves serves;
  int64_t priority;
};

/// A GPU runs a row in a warp where rows are many and in a CTA where they are
/// few; a row a lane keeps any tree at all. Rows that are not aligned to 16
/// bytes take the schedules that move one element at a time.
std::vector<Candidate> gpuCandidates(const codegen::Capabilities &facts) {
  int64_t warp = facts.subgroupWidth;
  return {
      {"row_per_group", warp, warp, 4, 16, 128, Throughput, 10},
      {"row_per_group", 8 * warp, warp, 1, 16, 32, Latency, 10},
      {"row_per_group", 4 * warp, warp, 1, 16, 64, Latency, 12},
      {"row_per_group", warp, warp, 4, 16, 128, Latency, 14},
      {"row_per_group", 8 * warp, warp, 1, 16, 32, Throughput, 14},
      {"row_per_group", warp, warp, 4, 0, 128, Both, 20},
      {"row_per_lane", warp, warp, 4, 0, 16, Both, 30},
  };
}

/// A CPU runs a row across a vector register, or a row in each element.
/// Accesses need no alignment (vector_bytes = 1).
std::vector<Candidate> cpuCandidates(const codegen::Capabilities &facts) {
  int64_t width = facts.vectorBits / 32;
  return {
      {"row_per_group", width, width, 1, 1, 64, Throughput, 10},
      {"row_per_group", width / 2, width / 2, 1, 1, 64, Latency, 10},
      {"row_per_lane", width, width, 1, 1, 16, Both, 20},
  };
}

std::vector<std::string> served(Serves serves, ArrayRef<std::string> roles) {
  std::vector<std::string> result;
  for (const std::string &role : roles) {
    bool manyRows = role == "train" || role == "prefill";
    if (serves & (manyRows ? Throughput : Latency))
      result.push_back(role);
  }
  return result;
}

} // namespace

FailureOr<std::vector<Proposal>>
schedule::propose(pact::ContractOp contract, pact::OperatorOp op,
                  const codegen::Target &target,
                  ArrayRef<std::string> roles) {
  std::vector<Proposal> proposals;
  const codegen::Capabilities &facts = target.capabilities();
  std::vector<std::string> refusals;
  for (const Candidate &c : target.kind() == codegen::TargetKind::Cpu
                                ? cpuCandidates(facts)
                                : gpuCandidates(facts)) {
    auto attr = kernel::ScheduleAttr::get(contract.getContext(), c.kind,
                                          c.lanes, c.subgroup,
                                          c.programsPerGroup, c.vectorBytes,
                                          c.unroll);
    if (std::optional<std::string> why = lowering::whyNot(contract, op, attr)) {
      std::string text = c.kind.str() + " with " + std::to_string(c.lanes) +
                         " lanes: " + *why;
      if (!llvm::is_contained(refusals, text))
        refusals.push_back(text);
      continue;
    }
    std::vector<std::string> forRoles = served(c.serves, roles);
    if (forRoles.empty())
      continue;
    // One schedule may serve both kinds of roles with one code object.
    auto same = llvm::find_if(proposals, [&](const Proposal &p) {
      return p.schedule == attr && p.priority == c.priority;
    });
    if (same != proposals.end())
      same->roles.insert(same->roles.end(), forRoles.begin(), forRoles.end());
    else
      proposals.push_back({attr, forRoles, c.priority});
  }
  if (!proposals.empty())
    return proposals;
  InFlightDiagnostic error = contract.emitError()
                             << "contract '" << contract.getContractName()
                             << "': no schedule of target " << target.spec()
                             << " keeps it";
  for (const std::string &text : refusals)
    error.attachNote() << text;
  return failure();
}
