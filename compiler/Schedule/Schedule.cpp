// Schedule.cpp - which schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/Schedule.h"

#include "codegen/Lowering/RowLowering.h"
#include "compiler/Schedule/RowCandidates.h"
#include "compiler/Schedule/TileSchedule.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

/// Parts that a launch can have.
constexpr int64_t kMostParts = 65535;

/// The extents of dims for which a candidate is meant.
std::map<std::string, std::pair<int64_t, int64_t>>
rangesOf(const RowCandidate &c, const std::string &rowDim,
         const std::string &reducedDim, kernel::SplitAttr split) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  std::map<std::string, std::pair<int64_t, int64_t>> dims;
  if (c.fewRows && !rowDim.empty())
    dims[rowDim] = {1, kFewRows};
  if (!split)
    return dims;
  if (c.rowsPerLane == 1 && !rowDim.empty())
    dims[rowDim] = {1, c.sharedRows};
  if (!reducedDim.empty())
    dims[reducedDim] = {c.leastExtent, most};
  if (!split.getDim().empty()) {
    auto [range, isNew] =
        dims.try_emplace(split.getDim().str(), std::pair(int64_t(1), most));
    range->second.second =
        split.getLess() +
        std::min(most / kMostParts - 1, split.getLength()) * kMostParts;
  }
  return dims;
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

/// Running states compute much for each element, so that on GPUs the loads of a
/// step must be under way while the one before it computes. CPUs look ahead by
/// themselves.
bool loadsAhead(pact::ContractOp contract, const codegen::Target &target) {
  return target.kind() != codegen::TargetKind::Cpu &&
         llvm::any_of(contract.getNodes(), [](NamedAttribute node) {
           return cast<pact::NodeAttr>(node.getValue()).getState() ==
                  algebra::State::Online;
         });
}

/// Of the candidates for one purpose the first that keeps the contract is
/// taken.
bool samePurpose(const RowCandidate &a, const RowCandidate &b) {
  return a.serves == b.serves && a.priority == b.priority;
}

/// Whether every launch that `later` takes is one that `earlier` takes: they are
/// in order, and `earlier` asks for no alignment.
bool takesAll(const Proposal &earlier, const Proposal &later,
              const std::string &role) {
  auto within = [&](const auto &range) {
    auto other = later.dims.find(range.first);
    return other != later.dims.end() &&
           other->second.first >= range.second.first &&
           other->second.second <= range.second.second;
  };
  return earlier.schedule && later.schedule &&
         earlier.schedule.getVectorBytes() <= 1 &&
         llvm::is_contained(earlier.roles, role) &&
         llvm::all_of(earlier.dims, within);
}

/// Without the roles, and then the proposals, that no launch would come to.
std::vector<Proposal> reachable(std::vector<Proposal> ordered) {
  std::vector<Proposal> result;
  for (Proposal &proposal : ordered) {
    llvm::erase_if(proposal.roles, [&](const std::string &role) {
      return llvm::any_of(result, [&](const Proposal &earlier) {
        return takesAll(earlier, proposal, role);
      });
    });
    if (!proposal.roles.empty())
      result.push_back(std::move(proposal));
  }
  return result;
}

} // namespace

FailureOr<std::vector<Proposal>>
schedule::propose(pact::ContractOp contract, pact::OperatorOp op,
                  const codegen::Target &target, ArrayRef<std::string> roles) {
  for (NamedAttribute bound : contract.getPrimitives()) {
    auto name = cast<FlatSymbolRefAttr>(bound.getValue());
    if (SymbolTable::lookupNearestSymbolFrom<pact::AtomOp>(contract, name) &&
        !target.hasAtom(name.getValue()))
      return contract.emitError()
             << "contract '" << contract.getContractName() << "': primitive '"
             << bound.getName().getValue()
             << "': " << target.missingAtomMessage(name.getValue());
  }
  std::vector<Proposal> proposals;
  int64_t extent = lowering::kDynamic;
  std::string rowDim, reducedDim;
  if (llvm::Expected<lowering::RowFamily> family =
          lowering::rowFamily(contract, op)) {
    extent = family->domain;
    rowDim = family->rowDim;
    reducedDim = family->reducedDim;
  } else {
    llvm::consumeError(family.takeError()); // whyNot says it for each
  }
  std::vector<std::string> refusals;
  proposeTiles(contract, op, target, roles, proposals, refusals);
  const RowCandidate *taken = nullptr;
  bool hasColumns = false;
  std::vector<RowCandidate> candidates = rowCandidates(op, target, extent);
  for (const RowCandidate &c : candidates) {
    if (taken && samePurpose(*taken, c))
      continue;
    // Down columns, lanes that share one read what lies far apart.
    if (c.kind == "row_per_group" && c.split && hasColumns)
      continue;
    auto attr = kernel::ScheduleAttr::get(
        contract.getContext(), c.kind, c.lanes, c.subgroup, c.programsPerGroup,
        c.vectorBytes, c.unroll, c.adjacent, c.rowsPerLane, c.split);
    if (loadsAhead(contract, target))
      attr = attr.withAhead(1);
    if (extent != lowering::kDynamic && extent < c.leastExtent)
      continue;
    if (std::optional<std::string> why = lowering::whyNot(contract, op, attr)) {
      // What cannot run whole can neither be shared; the whole says why.
      if (c.split)
        continue;
      std::string text =
          c.kind.str() + " with " + std::to_string(c.lanes) + " lanes";
      if (c.rowsPerLane > 1)
        text += " of " + std::to_string(c.rowsPerLane) + " rows";
      text += ": " + *why;
      if (!llvm::is_contained(refusals, text))
        refusals.push_back(text);
      continue;
    }
    taken = &c;
    hasColumns |= c.rowsPerLane > 1;
    std::vector<std::string> forRoles = served(c.serves, roles);
    if (forRoles.empty())
      continue;
    std::map<std::string, std::pair<int64_t, int64_t>> dims =
        rangesOf(c, rowDim, extent == lowering::kDynamic ? reducedDim : "",
                 lowering::splitOf(contract, op, attr));
    // One schedule may serve several purposes with one code object.
    auto same = llvm::find_if(
        proposals, [&](const Proposal &p) { return p.schedule == attr; });
    if (same == proposals.end()) {
      proposals.push_back({attr, {}, forRoles, c.priority, dims});
      continue;
    }
    std::vector<std::string> all;
    for (const std::string &role : roles)
      if (llvm::is_contained(same->roles, role) ||
          llvm::is_contained(forRoles, role))
        all.push_back(role);
    same->roles = all;
    if (dims.empty())
      same->dims.clear();
  }
  llvm::stable_sort(proposals, [](const Proposal &a, const Proposal &b) {
    return a.priority < b.priority;
  });
  if (!proposals.empty())
    return reachable(std::move(proposals));
  InFlightDiagnostic error = contract.emitError()
                             << "contract '" << contract.getContractName()
                             << "': no schedule of target " << target.spec()
                             << " keeps it";
  for (const std::string &text : refusals)
    error.attachNote() << text;
  return failure();
}
