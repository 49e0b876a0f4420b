// Schedule.cpp - which schedules of a contract a target is offered
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Schedule/Schedule.h"

#include "codegen/Lowering/RowLowering.h"
#include "compiler/Schedule/TileSchedule.h"
#include "dialects/Pact/RowAxis.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::schedule;

namespace {

enum Serves { Throughput = 1, Latency = 2, Both = 3 };

/// Rows above which there are programs enough without some that share one.
constexpr int64_t kSharedRows = 64;

struct Candidate {
  StringRef kind;
  int64_t lanes, subgroup, programsPerGroup, vectorBytes, unroll;
  Serves serves;
  int64_t priority;
  bool fewRows = false, adjacent = false;
  int64_t rowsPerLane = 1, split = 0;
  /// Where it is meant for long rows, or programs share rows that are few.
  int64_t leastExtent = 1, sharedRows = kSharedRows;
};

/// Lanes for a row of `extent` elements, so that a lane has about `each` of
/// them; a power of two between `least` and `most`.
int64_t lanesFor(int64_t extent, int64_t each, int64_t least, int64_t most) {
  int64_t lanes = least;
  while (lanes < most && lanes * each < extent)
    lanes *= 2;
  return lanes;
}

/// Fewer lanes a row than this leave too little of it side by side in memory.
constexpr int64_t kLeastLanes = 4;

/// Rows that are few: GPUs have 100 to 150 multiprocessors (an H200 has 132,
/// a gfx942 up to 304), and where each has a row or two, what counts is how
/// soon a row ends and not how many bytes are under way.
constexpr int64_t kFewRows = 256;

/// A row takes as many lanes as keep each busy with a few accesses: a part of a
/// warp for short rows, a CTA for long ones, and more where rows are few. Rows
/// that are not aligned to 16 bytes have accesses that need no alignment; a row
/// a lane keeps any tree at all. Narrower rows follow for contracts whose
/// digits have no more blocks.
std::vector<Candidate> gpuCandidates(const codegen::Capabilities &facts,
                                     int64_t extent) {
  int64_t warp = facts.subgroupWidth, most = 16 * warp;
  if (extent == lowering::kDynamic)
    extent = 4096;
  std::vector<Candidate> result;
  auto add = [&](int64_t each, int64_t vectorBytes, Serves serves,
                 int64_t priority, bool fewRows) {
    for (int64_t lanes = lanesFor(extent, each, kLeastLanes, most);
         lanes >= kLeastLanes; lanes /= 2)
      result.push_back({"row_per_group", lanes, std::min(lanes, warp),
                        lanes > warp ? 1 : 4 * warp / lanes, vectorBytes, 128,
                        serves, priority, fewRows});
  };
  add(8, 16, Latency, 10, true);
  add(24, 16, Both, 20, false);
  add(24, 1, Both, 30, false);
  result.push_back({"row_per_lane", warp, warp, 4, 0, 16, Both, 40});
  return result;
}

/// A CPU runs a row across two vector registers or one, or a row in each
/// element of one. Accesses need no alignment (vector_bytes = 1).
std::vector<Candidate> cpuCandidates(const codegen::Capabilities &facts) {
  int64_t width = facts.vectorBits / 32;
  std::vector<Candidate> result;
  auto add = [&](int64_t widest, Serves serves) {
    for (int64_t lanes = widest; lanes >= kLeastLanes; lanes /= 2)
      result.push_back(
          {"row_per_group", lanes, lanes, 1, 1, 64, serves, 10, false, true});
  };
  add(2 * width, Throughput);
  add(width, Latency);
  result.push_back(
      {"row_per_lane", width, width, 1, 1, 16, Both, 20, false, true});
  return result;
}

/// Elements of a row that a program should have at least where programs share
/// the row.
constexpr int64_t kRowPart = 4096, kColumnPart = 256;
/// Parts that a launch can have.
constexpr int64_t kMostParts = 65535;

/// Lanes with several neighbouring rows, for reductions down the columns of a
/// matrix; programs that share rows, for long columns and, on GPUs, for few
/// long rows.
void addShared(std::vector<Candidate> &result,
               const codegen::Capabilities &facts, bool gpu) {
  int64_t width = gpu ? facts.subgroupWidth : facts.vectorBits / 32;
  // Of a wave of 64 lanes each has half as much under way as of 32.
  int64_t columnUnroll = gpu ? 128 * 32 / width : 16;
  auto add = [&](StringRef kind, int64_t lanes, int64_t programs,
                 int64_t vectorBytes, int64_t unroll, int64_t priority,
                 int64_t rowsPerLane, int64_t split) {
    Candidate c{kind,        lanes,  width, programs,
                vectorBytes, unroll, Both,  priority};
    c.adjacent = !gpu;
    c.rowsPerLane = rowsPerLane;
    c.split = split;
    if (split) // two parts at least
      c.leastExtent = 2 * split + 1;
    result.push_back(c);
  };
  // GPUs: aligned accesses first; CPUs need no alignment.
  for (int64_t vectorBytes : {16, 0}) {
    int64_t bytes = gpu ? vectorBytes : 1, later = vectorBytes ? 0 : 1;
    for (int64_t split : {kColumnPart, int64_t(0)})
      add("row_per_lane", width, gpu ? 4 : 1, bytes, columnUnroll,
          (split ? 2 : 4) + later, 8, split);
    if (!gpu)
      return;
    for (int64_t lanes = 16 * width; lanes >= width; lanes /= 2)
      add("row_per_group", lanes, 1, bytes, 64, 6 + later, 1, kRowPart);
  }
}

/// Programs of GPUs that share rows of which every element is computed by itself:
/// an element for each lane, or a pack. On an H200 (docs/results/
/// 2026-11-30-experts-activation.md) packs are faster from about eight rows, and as
/// fast as whole rows at a few hundred; single elements, which need no alignment,
/// are faster than packs that lie anywhere up to about a hundred. CPUs gain nothing.
void addSharedElements(std::vector<Candidate> &result,
                       const codegen::Capabilities &facts) {
  int64_t warp = facts.subgroupWidth;
  auto add = [&](int64_t warps, int64_t vectorBytes, int64_t each,
                 int64_t priority, int64_t mostRows) {
    Candidate c{"row_per_group", warps * warp, warp, 1,
                vectorBytes,     64,           Both, priority};
    c.split = c.lanes * each;
    c.leastExtent = c.split + 1;
    c.sharedRows = mostRows;
    result.push_back(c);
  };
  add(4, 0, 1, 5, 8);
  add(4, 16, 8, 6, kFewRows);
  add(8, 0, 1, 7, kSharedRows);
}

/// The extents of dims for which a candidate is meant.
std::map<std::string, std::pair<int64_t, int64_t>>
rangesOf(const Candidate &c, const std::string &rowDim,
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
bool samePurpose(const Candidate &a, const Candidate &b) {
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
  const codegen::Capabilities &facts = target.capabilities();
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
  const Candidate *taken = nullptr;
  bool hasColumns = false;
  bool gpu = target.kind() != codegen::TargetKind::Cpu;
  std::vector<Candidate> candidates;
  if (!pact::isElementwise(op))
    addShared(candidates, facts, gpu);
  else if (gpu)
    addSharedElements(candidates, facts);
  llvm::append_range(candidates,
                     gpu ? gpuCandidates(facts, extent) : cpuCandidates(facts));
  for (const Candidate &c : candidates) {
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
